/* set.c: some points by turns, as `bench` times candidates, each with its own settings. */
#include "cli/table.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct slot { /* an open session: one for all points with the same settings */
    cnn_session session;
    const sweep_point *point;
    cnn_status status;
    char reason[CNN_MESSAGE_MAX]; /* unless CNN_OK */
} slot;

typedef struct set {
    slot slots[SWEEP_SET_MAX + 1]; /* and the control's */
    int n_slots;
    candidate list[SWEEP_SET_MAX]; /* those whose session is open */
    int count;
    int of[SWEEP_SET_MAX]; /* point -> its candidate, or -1 */
    int in[SWEEP_SET_MAX]; /* point -> its slot */
    int64_t round, number;
    double baseline; /* the default's median; NaN: it was not timed */
} set;

static const tuning_choice *tuned_choice(const sweep_group *g, const sweep_point *p)
{
    return g->wants_tuned ? g->tuned[p->type].choice : NULL;
}

/* On a device the points share the first one's context: what runs there runs alone. On the host each has threads of its
 * own. */
static void open_slot(const sweep *s, const sweep_group *g, const sweep_point *p, set *h)
{
    int64_t values[SWEEP_TABLE_MAX];
    const cnn_session *first = &h->slots[0].session, session = sweep_describe(s, g, p, values);
    const cnn_session_params params = {.threads = p->threads, .device = session.device, .knobs = values};
    const bool shares = h->n_slots > 0 && session.impl->memory && h->slots[0].status == CNN_OK;
    slot *new = &h->slots[h->n_slots++];
    cnn_error err;
    new->point = p;
    new->status = shares && first->threads == p->threads ? cnn_session_with(first, values, &new->session, &err)
                                                         : cnn_session_open(session.impl, &params, &new->session, &err);
    if (new->status != CNN_OK) snprintf(new->reason, sizeof new->reason, "%s", err.message);
}

static int slot_of(const sweep *s, const sweep_group *g, const sweep_point *p, set *h)
{
    for (int i = 0; i < h->n_slots; i++)
        if (h->slots[i].point->threads == p->threads && tuned_choice(g, h->slots[i].point) == tuned_choice(g, p) &&
            memcmp(h->slots[i].point->knobs, p->knobs, sizeof p->knobs) == 0)
            return i;
    open_slot(s, g, p, h);
    return h->n_slots - 1;
}

static void gather(const sweep *s, const sweep_group *g, const int *list, int count, set *h)
{
    for (int i = 0; i < count; i++) {
        const sweep_point *p = &g->points[list[i]];
        h->in[i] = slot_of(s, g, p, h);
        h->of[i] = -1;
        if (h->slots[h->in[i]].status != CNN_OK) continue;
        h->of[i] = h->count;
        h->list[h->count++] = (candidate){.session = &h->slots[h->in[i]].session,
                                          .algorithm = p->algorithm,
                                          .watch = s->b.watches[g->session],
                                          .own = &g->cases[p->type],
                                          .choice = tuned_choice(g, p)};
    }
}

/* Points have sessions of their own, so the control has one, too: where a session's threads happen to run is part of
 * what two figures of the same settings differ by. */
static void add_control(const sweep *s, const sweep_group *g, const sweep_point *first, set *h)
{
    const slot *again = &h->slots[h->n_slots];
    if (h->of[0] != 0) return;
    open_slot(s, g, first, h);
    if (again->status == CNN_OK) h->list[0].again = &again->session;
}

static void count_state(sweep *s, const candidate *c, const char *label)
{
    if (c->state == CANDIDATE_TIMED) return;
    if (c->state == CANDIDATE_WRONG)
        s->wrong++;
    else
        s->refused++;
    if (c->state == CANDIDATE_WRONG || !s->b.options->quiet) {
        cli_progress_end(&s->b.progress);
        table_put(stderr, "%s: %s\n", label, c->reason);
    }
}

/* It is kept as a row as well: the ranking reads rows, whether they are of this run or of an earlier one. */
static cnn_status record_point(sweep *s, sweep_group *g, sweep_point *p, const candidate *c, const set *h,
                               cnn_error *err)
{
    const vf_case *pc = &g->cases[p->type];
    char repro[REPRO_MAX], label[512];
    bench_repro(&s->b, c, pc, repro);
    sweep_label(s, g, p, label, sizeof label);
    cnn_record *record = candidate_record_kind("sweep", c, pc, &s->b.params, repro);
    sweep_record_identity(record, s, g);
    record_text(record, "axes", s->axes_text);
    record_bool(record, "default", p == &g->points[0]);
    record_int(record, "round", h->round);
    record_int(record, "set", h->number);
    if (isfinite(h->baseline)) record_real(record, "baseline_s", h->baseline);
    if (g->wants_tuned && p->usual) record_text(record, "tuning", tuning_state_name(g->tuned[p->type].state));
    cnn_status status = sweep_rows_add(&s->rows, record, err);
    if (status != CNN_OK) {
        record_free(record);
        return status;
    }
    p->row = s->rows.count - 1;
    if (h->round == 1 || c->state == CANDIDATE_WRONG) count_state(s, c, label);
    s->ran += h->round == 1;
    return record_write(s->b.sink, record, err);
}

/* One whose session did not open has no candidate: what it would have been. */
static cnn_status record_unopened(sweep *s, sweep_group *g, sweep_point *p, const slot *in, const set *h,
                                  cnn_error *err)
{
    int64_t values[SWEEP_TABLE_MAX];
    const cnn_session session = sweep_describe(s, g, p, values);
    candidate c = {.session = &session, .algorithm = p->algorithm, .state = CANDIDATE_FAILED};
    if (in->status == CNN_UNSUPPORTED || in->status == CNN_UNAVAILABLE) c.state = CANDIDATE_UNSUPPORTED;
    if (in->status == CNN_OUT_OF_MEMORY) c.state = CANDIDATE_NO_MEMORY;
    snprintf(c.reason, sizeof c.reason, "%s", in->reason);
    return record_point(s, g, p, &c, h, err);
}

/* After a fault, unlike a launch that was refused, a device fails whatever comes: then the figures of this set say
 * nothing, nor would those of later ones. The session that is open throughout tells. */
static cnn_status check_device(const sweep *s, const sweep_group *g, const int *list, int count, const set *h,
                               cnn_error *err)
{
    cnn_error why;
    char label[512];
    for (int i = 0; i < count; i++) {
        if (h->of[i] < 0 || h->list[h->of[i]].state != CANDIDATE_FAILED) continue;
        if (cnn_sync(&s->b.sessions.list[g->session], &why) == CNN_OK) return CNN_OK;
        sweep_label(s, g, &g->points[list[i]], label, sizeof label);
        return CNN_FAIL(err, CNN_DEVICE, "the device failed for good in a set of %d points, %.150s among them: %.250s",
                        count, label, why.message);
    }
    return CNN_OK;
}

static cnn_status record_all(sweep *s, sweep_group *g, const int *list, int count, const set *h, cnn_error *err)
{
    cnn_status status = check_device(s, g, list, count, h, err);
    for (int i = 0; status == CNN_OK && i < count; i++) {
        sweep_point *p = &g->points[list[i]];
        if (p->row >= 0) continue; /* the default, again */
        status = h->of[i] >= 0 ? record_point(s, g, p, &h->list[h->of[i]], h, err)
                               : record_unopened(s, g, p, &h->slots[h->in[i]], h, err);
    }
    return status;
}

/* The reference's results are kept for the group's other sets. */
static cnn_status make_cases(sweep *s, sweep_group *g, const int *list, int count, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < count; i++) {
        const sweep_point *p = &g->points[list[i]];
        const cnn_problem problem = sweep_problem(s, g, p);
        if (g->has_case[p->type]) continue;
        status = bench_make_case(&s->b, &problem, g->dir, &g->cases[p->type], err);
        g->has_case[p->type] = status == CNN_OK;
    }
    return status;
}

cnn_status sweep_time_set(sweep *s, sweep_group *g, const int *list, int count, int64_t round, cnn_error *err)
{
    set *h = calloc(1, sizeof *h);
    if (!h) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a set of %d points", count);
    h->round = round;
    h->number = ++s->rows.sets;
    cnn_status status = make_cases(s, g, list, count, err);
    if (status == CNN_OK) {
        gather(s, g, list, count, h);
        add_control(s, g, &g->points[list[0]], h);
        status = candidates_time(h->list, h->count, NULL, &s->b.params, err);
    }
    const bool usual = list[0] == 0 && h->of[0] == 0 && h->list[0].state == CANDIDATE_TIMED;
    h->baseline = status == CNN_OK && usual ? h->list[0].result.stats.median : NAN;
    if (status == CNN_OK) status = record_all(s, g, list, count, h, err);
    candidates_close(h->list, h->count);
    for (int i = h->n_slots; i-- > 0;) /* the first one's context last */
        if (h->slots[i].status == CNN_OK) cnn_session_close(&h->slots[i].session);
    free(h);
    return status;
}
