/* judge.c: what is judged, and what comes of it. */
#include "judge_parts.h"

#include "harness/base/clock.h"
#include "verify/oracle/case.h"
#include "verify/oracle/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

cnn_status judge_calm(judge *j, cnn_error *err)
{
    j->back = 0;
    judge_late(j);
    cnn_status status = judge_stale(j, err);
    if (status == CNN_OK) status = judge_restore(j, err);
    for (int i = 0; status == CNN_OK && i < j->c.call.count; i++)
        if (j->c.call.operands[i].access != CNN_IN) status = judge_fill(j, i, err);
    return status == CNN_OK ? judge_spoil(j, JUDGE_SPOILED, err) : status;
}

/* The basis that the caller has, or one of the judge's own. */
static cnn_status take_basis(judge *j, const vf_case *c, judge_basis **shared, cnn_error *err)
{
    cnn_status status = CNN_OK;
    const double start = cnn_now();
    if (!j->sums) return CNN_OK;
    if (!shared) shared = &j->own;
    if (!*shared) status = judge_basis_open(c, j->session->threads, shared, err);
    j->basis = *shared;
    j->upload.own_s = cnn_now() - start;
    j->fresh_s = *shared ? (*shared)->seconds : 0; /* until one was judged so */
    return status;
}

cnn_status judge_open(const cnn_session *session, const vf_case *c, const cnn_plan *plan, judge_basis **basis,
                      judge **result, judge_upload *upload, cnn_error *err)
{
    *result = NULL;
    judge *j = calloc(1, sizeof *j);
    if (!j) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to judge timed runs");
    *j = (judge){.session = session,
                 .plan = plan,
                 .sums = cnn_is_weighted(&c->problem) && !cnn_always_replaces(&c->problem),
                 .fresh = -1,
                 .verdict = {.session = session,
                             .problem = &c->problem,
                             .algorithm = plan->algorithm.name,
                             .dir = c->call.dir,
                             .check = "timed",
                             .state = VERIFY_PASSED,
                             .budget_used = NAN}};
    if (getrandom(&j->rng.state, sizeof j->rng.state, 0) != (ssize_t)sizeof j->rng.state)
        j->rng.state = (uint64_t)(cnn_now() * 1e9);
    vf_note_transform(&c->problem, &plan->algorithm, &j->verdict);
    cnn_status status = vf_case_copy(c, &j->c, err);
    if (status == CNN_OK) status = take_basis(j, c, basis, err);
    j->hands.session = session; /* what its own upload costs is told */
    if (status == CNN_OK) status = judge_buffers_open(j, err);
    *upload = j->upload;
    hands_open(session, &j->hands);
    if (status == CNN_OK) status = judge_fresh_open(j, err);
    if (status == CNN_OK && j->sums) judge_projections_open(j);
    if (status == CNN_OK)
        *result = j;
    else
        judge_close(j);
    return status;
}

void judge_close(judge *j)
{
    if (!j) return;
    judge_buffers_close(j);
    judge_fresh_close(j);
    judge_basis_close(j->own);
    hands_close(&j->hands);
    vf_case_free(&j->c);
    free(j);
}

void *const *judge_buffers(const judge *j) { return j->buffers; }
bool judge_trusted(const judge *j) { return j->hands.trusted; }
const cnn_session *judge_hands(const judge *j) { return j->hands.session; }
void *judge_workspace(const judge *j) { return j->workspace.data; }
const verify_result *judge_verdict(const judge *j) { return &j->verdict; }
judge_count judge_counts(const judge *j) { return j->count; }
int64_t judge_draw(judge *j, int64_t below) { return rng_int(&j->rng, 0, below - 1); }

/* ---- All elements. */

static void blame(judge *j, const char *name, const vf_damage *damage)
{
    char text[256];
    vf_damage_text(damage, name, text, sizeof text);
    if (text[0] != '\0') vf_set(&j->verdict, VERIFY_FAILED, "a timed run %s", text);
}

/* Downloads operand i with its guards; an output becomes run->after[i], an input must be what it was. */
static cnn_status look_at(judge *j, const vf_case *c, int i, vf_run *run, cnn_error *err)
{
    const cnn_operand *o = &c->call.operands[i];
    vf_damage damage;
    cnn_status status = vf_guarded_download(&j->guarded[i], j->hands.session, j->room, &damage, err);
    if (status != CNN_OK) return status;
    blame(j, o->name, &damage);
    double *values = malloc((size_t)o->count * sizeof *values);
    if (!values) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to check %s", o->name);
    vf_unpack(&c->problem, o, (char *)j->room + j->lead_bytes, values);
    if (c->after[i]) {
        run->after[i] = values;
        return CNN_OK;
    }
    bool changed = j->lead[i] && memcmp(j->room, j->lead[i], j->lead_bytes) != 0;
    for (int64_t e = 0; c->before[i] && e < o->count && !changed; e++) changed = !(values[e] == c->before[i][e]);
    if (changed) vf_set(&j->verdict, VERIFY_FAILED, "a timed run changed its input %s", o->name);
    free(values);
    return CNN_OK;
}

static void compare(const judge *j, const vf_case *c, const vf_run *run, bool precision, verify_result *verdict)
{
    const vf_rounding bounds = vf_rounding_of(&c->problem, &j->plan->algorithm);
    vf_comparison sums = {0};
    vf_judge(c, run, &bounds, verdict, &sums);
    if (precision) vf_judge_precision(&c->problem, &bounds, &sums, verdict);
    if (precision) vf_judge_channels(c, run, &bounds, verdict);
}

static bool has_failed(const judge *j) { return j->verdict.state != VERIFY_PASSED; }

static cnn_status look_at_workspace(judge *j, cnn_error *err)
{
    vf_damage damage;
    if (!j->workspace.memory) return CNN_OK;
    const cnn_status status = vf_guarded_download(&j->workspace, j->hands.session, j->room, &damage, err);
    if (status == CNN_OK) blame(j, "its workspace", &damage);
    return status;
}

/* What must come out has followed the inputs change by change, and float64 rounds, too: before a kernel is blamed, it
 * is computed afresh. */
static cnn_status compare_twice(judge *j, const vf_run *run, bool precision, cnn_error *err)
{
    const verify_result before = j->verdict; /* guard bands and inputs */
    if (j->sums) vf_find_kinds(&j->c);       /* they follow what was changed */
    compare(j, &j->c, run, precision, &j->verdict);
    if (!j->sums || !has_failed(j)) return CNN_OK;
    j->verdict = before;
    const cnn_status status = vf_case_again(&j->c, j->session->threads, err);
    judge_expect(j);
    if (status == CNN_OK) compare(j, &j->c, run, precision, &j->verdict);
    return status;
}

/* now: j->c, or what it is with the input that is fresh. */
static cnn_status judge_elements(judge *j, const vf_case *now, bool precision, cnn_error *err)
{
    vf_run run = {.fault = ""};
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < now->call.count; i++) status = look_at(j, now, i, &run, err);
    if (status == CNN_OK) status = look_at_workspace(j, err);
    if (status == CNN_OK && now == &j->c) status = compare_twice(j, &run, precision, err);
    if (status == CNN_OK && now != &j->c) compare(j, now, &run, precision, &j->verdict);
    if (status == CNN_OK) status = judge_window(j, now, err);
    if (status == CNN_OK) j->count.whole++;
    vf_run_free(&run);
    return status;
}

static cnn_status judge_whole(judge *j, bool precision, cnn_error *err)
{
    vf_case now;
    cnn_status status = j->sums ? CNN_OK : vf_case_again(&j->c, j->session->threads, err);
    if (status != CNN_OK || j->fresh < 0) return status == CNN_OK ? judge_elements(j, &j->c, precision, err) : status;
    status = judge_fresh_case(j, &now, err);
    if (status != CNN_OK) return status;
    status = judge_elements(j, &now, precision, err);
    vf_case_free(&now);
    return status;
}

/* ---- What is judged. */

/* Judging costs up to `share` of what the runs take; more than that is drawn, so that no kernel knows which run is. */
static bool chosen(judge *j, double cost, double share)
{
    const double seconds = j->run_s / (double)(j->count.runs > 0 ? j->count.runs : 1);
    return rng_unit(&j->rng) * cost < share * seconds || cost <= 0;
}

static cnn_status project(judge *j, bool *suspect, cnn_error *err)
{
    bool agrees;
    const double start = cnn_now();
    const cnn_status status = judge_project(j, &agrees, err);
    j->projection_s = cnn_now() - start;
    j->count.projected++;
    *suspect = !agrees;
    return status;
}

/* A projection that was off, of elements that are all within their bounds: more is allowed of this kernel then. */
static void allow_more(judge *j)
{
    for (int i = 0; i < j->c.call.count; i++) j->allowed[i] *= 2;
}

static bool in_place(const judge *j)
{
    for (int i = 0; i < j->c.call.count; i++)
        if (j->c.call.operands[i].access == CNN_INOUT) return true;
    return false;
}

/* The first JUDGE_ALWAYS runs are projected whatever it costs: of some figures there are no more. */
cnn_status judge_run(judge *j, double seconds, cnn_error *err)
{
    bool suspect = false;
    cnn_status status = CNN_OK;
    j->count.runs++;
    j->run_s += seconds;
    if (has_failed(j) || in_place(j)) return CNN_OK; /* what is updated in place is judged at its last run */
    if (j->sums && (j->count.runs <= JUDGE_ALWAYS || chosen(j, j->projection_s, 0.5)))
        status = project(j, &suspect, err);
    double *cost = j->fresh >= 0 ? &j->fresh_s : &j->whole_s;
    if (status != CNN_OK || !(suspect || chosen(j, *cost, 0.1))) return status;
    const double start = cnn_now();
    status = judge_whole(j, false, err);
    *cost = cnn_now() - start;
    if (suspect && !has_failed(j)) allow_more(j);
    return status;
}

cnn_status judge_last(judge *j, cnn_error *err)
{
    const cnn_status status = has_failed(j) ? CNN_OK : judge_whole(j, true, err);
    judge_late(j);
    return status;
}
