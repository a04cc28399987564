/* candidates.c: whose turn it is, and what became of everyone. */
#include "candidates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An error puts this candidate out and leaves the others in; only an interrupt ends it for all. */
static cnn_status put_out(candidate *c, cnn_status status, const cnn_error *err)
{
    if (status == CNN_OK || status == CNN_INTERRUPTED) return status;
    c->state = status == CNN_UNSUPPORTED     ? CANDIDATE_UNSUPPORTED
               : status == CNN_OUT_OF_MEMORY ? CANDIDATE_NO_MEMORY
                                             : CANDIDATE_FAILED;
    snprintf(c->reason, sizeof c->reason, "%s", err->message);
    measure_close(c->measure);
    c->measure = NULL;
    return CNN_OK;
}

static void hand(const measure_params *params, const candidate *c)
{
    if (params->in_hand) params->in_hand(params->in_hand_user, c);
}

/* What the candidates share: of each case one. */
typedef struct case_basis {
    const vf_case *c;
    judge_basis *basis;
} case_basis;
typedef struct contest {
    const vf_case *c;
    const measure_params *params;
    case_basis *list; /* ends with one without a case */
} contest;

static judge_basis **basis_of(const contest *t, const vf_case *c)
{
    case_basis *b = t->list;
    while (b->c && b->c != c) b++;
    b->c = c;
    return &b->basis;
}

static cnn_status enter(candidate *c, const contest *t, cnn_error *err)
{
    const vf_case *own = c->own ? c->own : t->c;
    c->resolution = NAN;
    if (c->reason[0] != '\0') return CNN_OK;
    hand(t->params, c);
    const measure_setting setting = {own, &c->algorithm, c->watch, t->params, basis_of(t, own)};
    return put_out(c, measure_open(c->session, &setting, &c->measure, err), err);
}

static cnn_status take_turns(candidate *const *all, int count, const measure_params *params, cnn_error *err)
{
    bool waiting = true;
    for (int round = 0; waiting; round++) {
        waiting = false;
        for (int i = 0; i < count; i++) {
            candidate *c = all[round % 2 == 0 ? i : count - 1 - i];
            if (!c->measure || measure_done(c->measure)) continue;
            hand(params, c);
            if (put_out(c, measure_turn(c->measure, err), err) != CNN_OK) return err->status;
            waiting = waiting || (c->measure && !measure_done(c->measure));
        }
    }
    return CNN_OK;
}

/* By the session's own threads, or by more where those were not measured: what these cannot do, fewer cannot. */
static bool find_floor(const candidate *c, const vf_case *pc, const measure_params *params, bench_floor *floor)
{
    cnn_session with = *c->session;
    if (!params->peaks) return false;
    const bench_work work = {&pc->problem, pc->call.dir, params->cold, c->result.stats.median, &c->algorithm};
    bool found = bench_floor_of(params->peaks, &with, &work, floor);
    for (int i = 0; i < params->peaks->count && !found; i++) {
        with.threads = params->peaks->list[i].threads;
        found = with.threads > c->session->threads && bench_floor_of(params->peaks, &with, &work, floor);
    }
    return found;
}

static const double in_doubt = 1.05, impossible = 1.5;

/* Before a figure is blamed for what a kept or disturbed ceiling says, that is measured anew; while it is far beyond
 * one that is disturbed even then, again: the best of them counts. */
static cnn_status sound_floor(const candidate *c, const vf_case *pc, const measure_params *params, bench_floor *floor,
                              bool *found, cnn_error *err)
{
    enum { TRIES = 3 };
    double most = in_doubt;
    cnn_status status = CNN_OK;
    *found = find_floor(c, pc, params, floor);
    for (int i = 0; i < TRIES && status == CNN_OK && params->peaks_again; i++) {
        if (!*found || !(floor->seconds > most * c->result.stats.median)) break;
        status = params->peaks_again(params->peaks_user, err);
        *found = find_floor(c, pc, params, floor);
        if (floor->marks == 0) break;
        most = impossible;
    }
    return status;
}

/* A share above 1, or of a ceiling that other work pressed down, is no share. Beyond a sound ceiling a figure is in
 * doubt itself; far beyond, it cannot be. Far beyond one in doubt, one of the two cannot be, and it is not known which:
 * no figure either. */
static cnn_status hold_to_ceiling(candidate *c, const vf_case *pc, const measure_params *params, cnn_error *err)
{
    bench_floor floor;
    bench_stats *s = &c->result.stats;
    bool found;
    const cnn_status status = sound_floor(c, pc, params, &floor, &found, err);
    if (status != CNN_OK || !found) return status;
    const double share = floor.seconds / s->median;
    if (floor.marks != 0 || share > 1) s->marks |= BENCH_CEILING;
    c->beyond = floor.marks == 0 && share > in_doubt;
    if (floor.marks != 0 && share > impossible)
        vf_set(&c->result.check, VERIFY_MISTRUSTED,
               "it takes %.3g s, but %s allows no less than %.3g s, as measured while other work was going on: one of "
               "the two is wrong; end other work and measure again, or without ceilings (--peaks none)",
               s->median, floor.by, floor.seconds);
    if (floor.marks == 0 && share > impossible)
        vf_set(&c->result.check, VERIFY_FAILED, "it takes %.3g s, but %s allows no less than %.3g s", s->median,
               floor.by, floor.seconds);
    return CNN_OK;
}

static cnn_status finish(candidate *c, const vf_case *pc, const measure_params *params, cnn_error *err)
{
    cnn_status status = measure_finish(c->measure, &c->result, err);
    if (status != CNN_OK) return put_out(c, status, err);
    const verify_result *check = &c->result.check;
    const bool took_time = c->result.stats.median > 0;
    if (took_time && hold_to_ceiling(c, c->own ? c->own : pc, params, err) != CNN_OK) return err->status;
    c->state = check->state != VERIFY_PASSED ? CANDIDATE_WRONG : took_time ? CANDIDATE_TIMED : CANDIDATE_TOO_SHORT;
    if (c->state == CANDIDATE_TOO_SHORT)
        snprintf(c->reason, sizeof c->reason,
                 "too short to time: the median of its %d samples is 0 s by the clock; take a larger problem",
                 c->result.stats.count);
    if (c->state == CANDIDATE_WRONG)
        snprintf(c->reason, sizeof c->reason, "%s: %.200s%s%.200s", verify_state_name(check->state), check->reason,
                 check->worst[0] != '\0' ? "; " : "", check->worst);
    return CNN_OK;
}

/* The farthest from 1 that the ratio of the two medians may be, each within its interval. */
static double resolution_of(const candidate *a, const candidate *again)
{
    const bench_stats *s = &a->result.stats, *t = &again->result.stats;
    if (a->state != CANDIDATE_TIMED || again->state != CANDIDATE_TIMED || !(s->low > 0 && t->low > 0)) return NAN;
    return fmax(s->high / t->low, t->high / s->low) - 1;
}

/* The first one that got as far as being timed, once more, at the end of the row. */
static cnn_status enter_control(candidate *list, int count, candidate *control, const candidate **whom,
                                const contest *t, cnn_error *err)
{
    int in = 0, first = -1;
    for (int i = 0; i < count; i++) {
        if (!list[i].measure) continue;
        if (first < 0) first = i;
        in++;
    }
    if (!t->params->control || in < 2) return CNN_OK;
    *whom = &list[first];
    *control = (candidate){.session = list[first].again ? list[first].again : list[first].session,
                           .algorithm = list[first].algorithm,
                           .watch = list[first].watch,
                           .own = list[first].own};
    return enter(control, t, err);
}

/* all: room for one more than `count`. */
static cnn_status time_all(candidate *list, int count, candidate **all, const contest *t, cnn_error *err)
{
    candidate control = {.session = NULL};
    const candidate *first = NULL; /* whom it repeats */
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < count; i++) {
        all[i] = &list[i];
        status = enter(&list[i], t, err);
    }
    if (status == CNN_OK) status = enter_control(list, count, &control, &first, t, err);
    if (status == CNN_OK) {
        all[count] = &control;
        status = take_turns(all, count + 1, t->params, err);
    }
    for (int i = 0; status == CNN_OK && i <= count; i++) {
        if (!all[i]->measure) continue;
        hand(t->params, all[i]);
        status = finish(all[i], t->c, t->params, err);
    }
    for (int i = 0; status == CNN_OK && control.measure && i < count; i++)
        list[i].resolution = resolution_of(first, &control);
    measure_close(control.measure);
    hand(t->params, NULL);
    return status;
}

cnn_status candidates_time(candidate *list, int count, const vf_case *c, const measure_params *params, cnn_error *err)
{
    candidate **all = calloc((size_t)count + 1, sizeof *all);
    case_basis *bases = calloc((size_t)count + 2, sizeof *bases);
    const contest t = {c, params, bases};
    const cnn_status status = all && bases ? time_all(list, count, all, &t, err)
                                           : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d candidates", count);
    for (case_basis *b = bases; b && b->c; b++) judge_basis_close(b->basis);
    free(bases);
    free(all);
    return status;
}

void candidates_close(candidate *list, int count)
{
    for (int i = 0; i < count; i++) {
        measure_close(list[i].measure);
        list[i].measure = NULL;
    }
}

int candidates_best(const candidate *list, int count)
{
    int best = -1;
    for (int i = 0; i < count; i++) {
        if (list[i].state != CANDIDATE_TIMED || list[i].beyond) continue;
        if (best < 0 || list[i].result.stats.median < list[best].result.stats.median) best = i;
    }
    return best;
}

bool candidates_tied(const candidate *best, const candidate *other)
{
    if (other->state != CANDIDATE_TIMED || other->beyond) return false;
    return bench_tied(&best->result.stats, &other->result.stats, best->resolution);
}
