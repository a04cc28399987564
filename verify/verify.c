/* verify.c: the checks by name, and all chosen ones on one problem. */
#include "engine.h"

#include "harness/cpu/limits.h"
#include "harness/problem/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const checks[VERIFY_CHECK_COUNT] = {
#define CHECK(id, name, doc) [VERIFY_##id] = #name,
#include "checks.inc"
#undef CHECK
};
const cnn_name_set verify_check_names = {"check", checks, VERIFY_CHECK_COUNT};

static vf_check_fn *const functions[VERIFY_CHECK_COUNT] = {
#define CHECK(id, name, doc) [VERIFY_##id] = vf_check_##name,
#include "checks.inc"
#undef CHECK
};

const char verify_late_refusal[] = "prepare", verify_no_room[] = "workspace", verify_sums_name[] = "sums";

const char *verify_check_name(verify_check check) { return checks[check]; }

/* Doubles an element, on the host: four arrays a case, four cases kept, and three more while differences are taken; of
 * a huge problem two cases kept, one in hand, and three runs. Besides the operands themselves: on the device, and as
 * images and results on the host. */
static cnn_status bytes_needed(const cnn_problem *problem, cnn_dir dir, bool huge, size_t *host, size_t *device,
                               cnn_error *err)
{
    enum { DOUBLES_SMALL = 4 * 4 + 3 * 4, DOUBLES_HUGE = 2 + 1 + 3, HOST_IMAGES = 4, DEVICE_IMAGES = 2 };
    const int64_t doubles = huge ? DOUBLES_HUGE : DOUBLES_SMALL;
    cnn_operand operands[CNN_MAX_OPERANDS];
    int count = cnn_operands(problem, dir, operands, err);
    *host = *device = 0;
    if (count < 0) return err->status;
    for (int i = 0; i < count; i++) {
        int64_t sums, images;
        if (!cnn_mul(operands[i].count, doubles * (int64_t)sizeof(double), &sums) ||
            !cnn_mul((int64_t)operands[i].bytes, HOST_IMAGES, &images) || sums > INT64_MAX / 32 - images)
            return CNN_FAIL(err, CNN_OVERFLOW, "the reference of %s (%lld elements) has no 64-bit size",
                            operands[i].name, (long long)operands[i].count);
        *host += (size_t)sums + (size_t)images;
        *device += operands[i].bytes * DEVICE_IMAGES;
    }
    return CNN_OK;
}

/* What an implementation says of its memory is not taken on trust: what it gives all the same is there. What the host
 * could not hold is not tried, for a device may be no more than the host's memory, and give what is not there. */
static cnn_status check_device(const cnn_session *session, size_t bytes, cnn_error *err)
{
    void *memory = NULL;
    cnn_error no;
    const cnn_status status = cnn_mem_check(session, bytes, err);
    if (status != CNN_OUT_OF_MEMORY || session->impl->memory == NULL) return status;
    if (cnn_host_check(bytes, &no) != CNN_OK || cnn_mem_alloc(session, bytes, &memory, &no) != CNN_OK) return status;
    cnn_mem_free(session, memory);
    return CNN_OK;
}

static cnn_status check_room(const cnn_session *session, const cnn_problem *problem, cnn_dir dir, bool huge,
                             cnn_error *err)
{
    size_t host, device;
    const cnn_status status = bytes_needed(problem, dir, huge, &host, &device, err);
    if (status != CNN_OK) return status;
    if (session->impl->memory == NULL) return cnn_host_check(host + device, err);
    return check_device(session, device, err) == CNN_OK ? cnn_host_check(host, err) : err->status;
}

cnn_status verify_room(const cnn_session *session, const cnn_problem *problem, cnn_dir dir, cnn_error *err)
{
    return check_room(session, problem, dir, false, err);
}

/* The workspace that a plan asks for: on the device, and its image on the host. */
static cnn_status check_workspace(const verify_engine *e, const cnn_plan *plan, cnn_error *err)
{
    const cnn_session *session = &e->session;
    const size_t bytes = plan->workspace_bytes, most = e->options.most_workspace;
    cnn_error why = {.status = CNN_OK};
    if (most > 0 && bytes > most)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%zu bytes of workspace, more than is taken here (%zu)", bytes, most);
    if (bytes == 0 || (check_device(session, bytes, &why) == CNN_OK && cnn_host_check(bytes, &why) == CNN_OK))
        return CNN_OK;
    return CNN_FAIL(err, why.status, "%s:%s asks for a workspace of %zu bytes: %.300s", session->impl->name,
                    plan->algorithm.name, bytes, why.message);
}

verify_result vf_result(const vf_subject *s, const char *check)
{
    return (verify_result){.session = &s->engine->session,
                           .problem = s->problem,
                           .algorithm = s->algorithm->name,
                           .dir = s->dir,
                           .check = check,
                           .state = VERIFY_PASSED,
                           .amplification = 1.0,
                           .budget_used = (double)NAN};
}

/* A check ended with an error. What the check lacks memory for is no failure of the kernel, unless one was seen. */
static void judge_error(const vf_subject *s, const cnn_error *err, verify_result *result)
{
    if (err->status != CNN_OUT_OF_MEMORY || result->state == VERIFY_FAILED) {
        vf_set(result, VERIFY_FAILED, "%s", err->message);
        return;
    }
    *result = vf_result(s, result->check);
    vf_note_transform(s->problem, s->algorithm, result);
    vf_set(result, VERIFY_SKIPPED, "%s", err->message);
}

/* Nothing is run. An error of the status `excused` makes the result that state, any other FAILED. */
static void tell_refused(const vf_subject *s, const char *check, cnn_status excused, verify_state state,
                         const cnn_error *err, verify_each *each, void *user)
{
    verify_result result = vf_result(s, check);
    result.state = err->status == excused ? state : VERIFY_FAILED;
    snprintf(result.reason, sizeof result.reason, "%s", err->message);
    each(user, &result);
}

/* One run of each variant on data that no check has, in the buffers that the checks have: what a kernel keeps by
 * address (a result, weights packed) is kept of these, and wrong ever after. Whether they succeed is for the checks to
 * say. */
static void run_other_data(const vf_subject *s)
{
    const uint64_t seed = vf_other_seed(s);
    for (int variant = 0; variant < vf_variants_of(s); variant++) {
        vf_case c;
        vf_run run;
        cnn_error err;
        if (vf_go_on(&s->engine->options, &err) != CNN_OK) return;
        if (vf_case_make(&c, s->problem, s->dir, VF_DATA, variant, seed, s->engine->pool, &err) != CNN_OK) return;
        if (vf_run_make(&run, s->place, &c, &(vf_run_options){0}, &err) == CNN_OK) vf_run_free(&run);
        vf_case_free(&c);
    }
}

/* Which sum it used: beside the checks. */
static cnn_status tell_sums(const vf_subject *s, const char *choice, verify_each *each, void *user, cnn_error *err)
{
    verify_result result = vf_result(s, verify_sums_name);
    sum_findings *found = calloc(1, sizeof *found);
    cnn_status status = vf_go_on(&s->engine->options, err);
    vf_note_transform(s->problem, s->algorithm, &result);
    if (status == CNN_OK && found == NULL) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for what a sum shows");
    if (status == CNN_OK) status = vf_find_sums(s, found, &result, err);
    if (status != CNN_OK && status != CNN_INTERRUPTED) judge_error(s, err, &result);
    result.choice = choice;
    if (status != CNN_INTERRUPTED) each(user, &result);
    free(found);
    return status;
}

/* A refusal is a result like any other: the only one, then. */
cnn_status verify_problem(verify_engine *engine, const cnn_problem *problem, cnn_dir dir,
                          const cnn_algorithm *algorithm, verify_each *each, void *user, cnn_error *err)
{
    cnn_plan plan;
    vf_place place = {.session = &engine->session, .plan = &plan, .pool = engine->pool};
    vf_subject s = {engine, problem, dir, &plan.algorithm, .place = &place, .offered = algorithm};
    cnn_status status = check_room(&engine->session, problem, dir, vf_is_huge(&engine->options, problem), err);
    if (status != CNN_OK) return status;
    status = cnn_plan_make(&engine->session, &(cnn_request){problem, dir, algorithm, NULL}, &plan, err);
    if (status != CNN_OK) {
        const bool late = strncmp(err->message, CNN_REFUSED_LATE, sizeof CNN_REFUSED_LATE - 1) == 0;
        tell_refused(&s, late ? verify_late_refusal : "supports", CNN_UNSUPPORTED, VERIFY_UNSUPPORTED, err, each, user);
        return CNN_OK;
    }
    if (check_workspace(engine, &plan, err) != CNN_OK) {
        tell_refused(&s, verify_no_room, CNN_OUT_OF_MEMORY, VERIFY_SKIPPED, err, each, user);
        cnn_plan_release(&engine->session, &plan);
        return CNN_OK;
    }
    s.rounding = vf_rounding_of(problem, &plan.algorithm);
    run_other_data(&s);
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++) {
        if (!(engine->options.checks & 1u << i)) continue;
        verify_result result = vf_result(&s, checks[i]);
        vf_note_transform(problem, &plan.algorithm, &result);
        if ((status = vf_go_on(&engine->options, err)) == CNN_OK) status = functions[i](&s, &result, err);
        if (status == CNN_INTERRUPTED) break;
        if (status != CNN_OK) judge_error(&s, err, &result);
        result.choice = plan.choice;
        s.failed = s.failed || result.state == VERIFY_FAILED;
        each(user, &result);
    }
    if (engine->options.sums && status != CNN_INTERRUPTED) status = tell_sums(&s, plan.choice, each, user, err);
    vf_place_leave(&place);
    cnn_plan_release(&engine->session, &plan);
    return status == CNN_INTERRUPTED ? status : CNN_OK;
}
