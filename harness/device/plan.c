/* plan.c: from a problem to a plan that can be run. The only way to a plan leads through the implementation's gate.
 *
 * What an implementation is handed is a copy, here and in run.c: const can be cast away, and what the harness holds a
 * kernel to (the problem, the arithmetic, the tolerance) must not be the kernel's to change. */
#include "call.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double cnn_workspace_most(const cnn_problem *problem, cnn_dir dir)
{
    cnn_operand operands[CNN_MAX_OPERANDS];
    cnn_error err;
    double most = 0x1p30 + 8 * cnn_flops(problem, dir);
    const int count = cnn_operands(problem, dir, operands, &err);
    for (int i = 0; i < count; i++) most += 1024 * (double)operands[i].bytes;
    return most;
}

static cnn_status check_workspace(const cnn_impl *impl, const cnn_plan *plan, cnn_error *err)
{
    const double most = cnn_workspace_most(&plan->problem, plan->dir);
    if ((double)plan->workspace_bytes <= most) return CNN_OK;
    return CNN_FAIL(err, CNN_INTERNAL,
                    "%s:%s asks for %zu bytes of workspace, where this problem can need %.3g at most", impl->name,
                    plan->algorithm.name, plan->workspace_bytes, most);
}

/* A transform may need a wider rounding bound; how wide, verify/oracle/transforms.h says. Plain sums have 1. */
static cnn_status check_amplification(const cnn_impl *impl, const cnn_algorithm *a, cnn_error *err)
{
    const double factor = a->amplification;
    if (!(isfinite(factor) && factor >= 1.0))
        return CNN_FAIL(err, CNN_INTERNAL, "algorithm %s:%s has an amplification of %g; it must be a number from 1 up",
                        impl->name, a->name, factor);
    if (factor > 1.0 && !(a->flags & CNN_ALGO_TRANSFORMS))
        return CNN_FAIL(err, CNN_INTERNAL,
                        "algorithm %s:%s has an amplification of %g without TRANSFORMS; plain sums of products have 1",
                        impl->name, a->name, factor);
    return CNN_OK;
}

/* Takes over what `prepare` made of the plan it was offered. Its promise may become narrower, never wider. */
static cnn_status take_over(const cnn_impl *impl, const cnn_plan *offered, cnn_plan *plan, cnn_error *err)
{
    const cnn_algorithm *was = &plan->algorithm, *now = &offered->algorithm;
    plan->state = offered->state; /* first of all: it must be released */
    cnn_plan handed;
    cnn_hand_plan(plan, &handed);
    if (memcmp(&offered->problem, &handed.problem, sizeof handed.problem) != 0 || offered->dir != handed.dir ||
        offered->knobs != plan->knobs)
        return CNN_FAIL(err, CNN_INTERNAL,
                        "prepare of %s:%s changed the problem, the direction or the knobs of its plan", impl->name,
                        was->name);
    if ((now->flags | CNN_ALGO_TRANSFORMS) != (was->flags | CNN_ALGO_TRANSFORMS) || (now->flags & ~was->flags) != 0)
        return CNN_FAIL(err, CNN_INTERNAL, "prepare of %s:%s changed its flags from %#x to %#x; it may drop TRANSFORMS",
                        impl->name, was->name, (unsigned)was->flags, (unsigned)now->flags);
    if (!(now->amplification <= was->amplification))
        return CNN_FAIL(err, CNN_INTERNAL, "prepare of %s:%s raised its amplification from %g to %g; it may lower it",
                        impl->name, was->name, was->amplification, now->amplification);
    plan->algorithm.flags = now->flags;
    plan->algorithm.amplification = now->amplification;
    plan->workspace_bytes = offered->workspace_bytes;
    memcpy(plan->choice, offered->choice, sizeof plan->choice - 1); /* its last byte stays 0 */
    return check_amplification(impl, &plan->algorithm, err);
}

const int64_t *cnn_session_lend(const cnn_session *session, const int64_t *knobs)
{
    const size_t count = (size_t)session->impl->n_knobs;
    memcpy(session->knobs + count, knobs != NULL ? knobs : session->knobs, count * sizeof *knobs);
    return session->knobs + count;
}

/* What an implementation is handed of a request. */
typedef struct handed {
    cnn_problem problem;
    cnn_algorithm algorithm;
    cnn_request request;
} handed;

static const cnn_request *hand(const cnn_session *session, const cnn_request *r, handed *h)
{
    h->problem = *r->problem;
    if (r->algorithm != NULL) h->algorithm = *r->algorithm;
    h->request = (cnn_request){.problem = &h->problem,
                               .dir = r->dir,
                               .algorithm = r->algorithm != NULL ? &h->algorithm : NULL,
                               .knobs = cnn_session_lend(session, r->knobs)};
    cnn_turn(&h->problem, &h->request.dir);
    return &h->request;
}

/* The bias of a transposed convolution has slots of its own. */
static cnn_status check_bias(const cnn_impl *impl, const cnn_request *r, cnn_error *err)
{
    if (r->problem->op != CNN_OP_DECONV || !r->problem->u.conv.bias || r->dir == CNN_BWD_D) return CNN_OK;
    const bool add = r->dir == CNN_FWD;
    if (add ? impl->ops->bias_add != NULL : impl->ops->bias_gradient != NULL) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "implementation %s has no slot %s: transposed convolutions without bias only",
                    impl->name, add ? "bias_add" : "bias_gradient");
}

cnn_status cnn_takes_epilogue(const cnn_impl *impl, const cnn_request *r, cnn_error *err)
{
    const bool quantized = cnn_is_quantized(r->problem->u.type.dtype);
    const uint32_t flag = quantized ? CNN_ALGO_QUANTIZED_EPILOGUES : CNN_ALGO_EPILOGUES;
    if (r->algorithm == NULL || !cnn_has_epilogue(r->problem) || r->algorithm->flags & flag) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "%s:%.64s takes no epilogues%s: it has not the flag CNN_ALGO_%sEPILOGUES",
                    impl->name, r->algorithm->name, quantized ? " of quantized results" : "",
                    quantized ? "QUANTIZED_" : "");
}

cnn_status cnn_takes_dtype(const cnn_impl *impl, const cnn_problem *problem, cnn_error *err)
{
    const cnn_dtype dtype = problem->u.type.dtype;
    const uint64_t mask = cnn_impl_dtypes(impl);
    char list[64] = "";
    if (mask >> dtype & 1) return cnn_half_check(problem, err);
    for (int i = 0; i < CNN_DTYPE_COUNT; i++)
        if (mask >> i & 1) cnn_append(list, sizeof list, "%s%s", list[0] ? ", " : "", cnn_dtype_name((cnn_dtype)i));
    return CNN_FAIL(err, CNN_UNSUPPORTED, "implementation %s does not take %s: its types are %s", impl->name,
                    cnn_dtype_name(dtype), list);
}

cnn_status cnn_supports(const cnn_session *session, const cnn_request *request, cnn_error *err)
{
    handed h;
    cnn_status status = cnn_takes_dtype(session->impl, request->problem, err);
    if (status == CNN_OK) status = check_bias(session->impl, request, err);
    if (status == CNN_OK) status = cnn_takes_epilogue(session->impl, request, err);
    if (status != CNN_OK) return status;
    return CNN_CALL(session->impl, supports, err, session->context, hand(session, request, &h), err);
}

/* The gate. A refusal is asked for twice: one that is taken back was none. */
static cnn_status ask(const cnn_session *session, const cnn_request *request, cnn_error *err)
{
    cnn_error again;
    const cnn_status status = cnn_supports(session, request, err);
    if (status != CNN_UNSUPPORTED) return status;
    if (cnn_supports(session, request, &again) != CNN_OK) return status;
    return cnn_error_before(
        err, CNN_INTERNAL,
        "%.64s: supports gave two answers to one question, first no and then yes. Its no: ", session->impl->name);
}

/* `prepare` said no behind the gate. */
static cnn_status refused_late(const cnn_impl *impl, const cnn_algorithm *algorithm, cnn_error *err)
{
    if (algorithm->flags & CNN_ALGO_MAY_REFUSE) return cnn_error_before(err, CNN_UNSUPPORTED, CNN_REFUSED_LATE ": ");
    return cnn_error_before(
        err, CNN_INTERNAL,
        CNN_REFUSED_LATE ", which takes the flag CNN_ALGO_MAY_REFUSE, and %.64s:%.64s does not have it: ", impl->name,
        algorithm->name);
}

static cnn_status prepare(const cnn_session *session, cnn_plan *plan, cnn_error *err)
{
    const cnn_impl *impl = session->impl;
    cnn_plan offered;
    cnn_hand_plan(plan, &offered);
    cnn_status status = CNN_CALL(impl, prepare, err, session->context, &offered, err);
    if (status == CNN_UNSUPPORTED) return refused_late(impl, &plan->algorithm, err);
    if (status != CNN_OK) return status;
    status = take_over(impl, &offered, plan, err);
    cnn_answer_text(plan->choice, sizeof plan->choice);
    return status == CNN_OK ? check_workspace(impl, plan, err) : status;
}

static cnn_status check_request(const cnn_impl *impl, const cnn_request *r, cnn_error *err)
{
    const cnn_status status = cnn_problem_check(r->problem, err);
    if (status != CNN_OK) return status;
    if (cnn_dir_check(r->problem, r->dir, err) != CNN_OK) return err->status;
    if (!(r->algorithm->ops & 1u << r->problem->op))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "algorithm %s:%s does not serve operation %s", impl->name,
                        r->algorithm->name, cnn_op_name(r->problem->op));
    return check_amplification(impl, r->algorithm, err);
}

/* The plan's own knobs: those of the request may be gone when it runs. */
static cnn_status keep_knobs(const cnn_session *session, const cnn_request *r, cnn_plan *plan, cnn_error *err)
{
    const size_t bytes = ((size_t)session->impl->n_knobs + 1) * sizeof *plan->knobs;
    int64_t *knobs = malloc(bytes);
    if (knobs == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the knobs of a plan");
    memcpy(knobs, r->knobs != NULL ? r->knobs : session->knobs, bytes - sizeof *knobs);
    plan->knobs = knobs;
    return CNN_OK;
}

cnn_status cnn_plan_make(const cnn_session *session, const cnn_request *request, cnn_plan *plan, cnn_error *err)
{
    memset(plan, 0, sizeof *plan);
    cnn_status status = check_request(session->impl, request, err);
    if (status == CNN_OK) status = ask(session, request, err);
    if (status != CNN_OK) return status;
    plan->problem = *request->problem;
    plan->dir = request->dir;
    plan->algorithm = *request->algorithm;
    status = keep_knobs(session, request, plan, err);
    if (status == CNN_OK && session->impl->prepare != NULL) status = prepare(session, plan, err);
    if (status != CNN_OK) cnn_plan_release(session, plan);
    return status;
}

void cnn_plan_release(const cnn_session *session, cnn_plan *plan)
{
    cnn_plan its_plan;
    cnn_hand_plan(plan, &its_plan);
    if (session->impl->release != NULL && plan->state != NULL)
        CNN_CALL_VOID(session->impl, release, session->context, &its_plan);
    plan->state = NULL;
    free((void *)(uintptr_t)plan->knobs);
    plan->knobs = NULL;
}

/* `more` of them stand behind the first *count: they must fit, and each have a name of its own. */
static cnn_status take_enumerated(const cnn_impl *impl, const cnn_algorithm *list, int capacity, int more, int *count,
                                  cnn_error *err)
{
    const int first = *count;
    if (more < 0 || more > capacity - first)
        return CNN_FAIL(err, CNN_INTERNAL, "%s: enumerate says that it gave %d algorithms, where there was room for %d",
                        impl->name, more, capacity - first);
    for (int i = first; i < first + more; i++) {
        if (cnn_algorithm_check(impl->name, &list[i], err) != CNN_OK) return err->status = CNN_INTERNAL;
        for (int k = 0; k < i; k++)
            if (strcmp(list[i].name, list[k].name) == 0)
                return CNN_FAIL(err, CNN_INTERNAL, "%s: enumerate gave an algorithm '%s', which there is already",
                                impl->name, list[i].name);
    }
    *count += more;
    return CNN_OK;
}

cnn_status cnn_algorithms(const cnn_session *session, const cnn_problem *problem, cnn_dir dir, cnn_algorithm *list,
                          int capacity, int *count, cnn_error *err)
{
    const cnn_impl *impl = session->impl;
    *count = 0;
    for (int i = 0; i < impl->n_algorithms && *count < capacity; i++)
        if (impl->algorithms[i].ops & 1u << problem->op) list[(*count)++] = impl->algorithms[i];
    if (impl->enumerate == NULL || cnn_takes_dtype(impl, problem, err) != CNN_OK) return CNN_OK;

    int more = 0;
    handed h;
    const cnn_request request = {.problem = problem, .dir = dir};
    cnn_status status = CNN_CALL(impl, enumerate, err, session->context, hand(session, &request, &h), list + *count,
                                 capacity - *count, &more, err);
    return status == CNN_OK ? take_enumerated(impl, list, capacity, more, count, err) : status;
}

cnn_status cnn_algorithm_pick(const cnn_session *session, const cnn_problem *problem, cnn_dir dir, const char *name,
                              cnn_algorithm *algorithm, cnn_error *err)
{
    enum { CAPACITY = 128 };
    cnn_algorithm list[CAPACITY];
    int count;
    cnn_status status = cnn_algorithms(session, problem, dir, list, CAPACITY, &count, err);
    if (status != CNN_OK) return status;
    if (count == 0)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "implementation %s has no algorithm for operation %s",
                        session->impl->name, cnn_op_name(problem->op));

    for (int i = 0; name != NULL && i < count; i++) {
        if (strcmp(list[i].name, name) != 0) continue;
        *algorithm = list[i];
        return ask(session, &(cnn_request){problem, dir, algorithm, NULL}, err);
    }
    for (int i = 0; i < count; i++) {
        *algorithm = list[i];
        status = ask(session, &(cnn_request){problem, dir, algorithm, NULL}, err);
        if (status == CNN_OK) return CNN_OK;
    }
    return status;
}
