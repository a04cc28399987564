/* set.c: some points by turns, as `bench` times candidates, each with its own settings. */
#include "cli/table.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct set {
    cnn_session sessions[SWEEP_SET_MAX + 1];            /* each point's, and the control's */
    bool open[SWEEP_SET_MAX + 1];                       /* others say what they would have been */
    int64_t values[SWEEP_SET_MAX + 1][SWEEP_TABLE_MAX]; /* of their knobs */
    candidate list[SWEEP_SET_MAX];
    int64_t round, number;
    double baseline; /* the default's median; NaN: it was not timed */
} set;

/* On a device the points share the first one's context: what runs there runs alone. On the host each has threads of its
 * own. */
static cnn_status open_session(const sweep *s, const sweep_group *g, const sweep_point *p, set *h, int i,
                               cnn_error *err)
{
    cnn_session *first = &h->sessions[0], *own = &h->sessions[i];
    const cnn_session described = sweep_describe(s, g, p, h->values[i]);
    const cnn_session_params params = {.threads = p->threads, .device = described.device, .knobs = h->values[i]};
    const bool shares = i > 0 && described.impl->memory && h->open[0] && first->threads == p->threads;
    const cnn_status status =
        shares ? cnn_session_with(first, h->values[i], own, err) : cnn_session_open(described.impl, &params, own, err);
    h->open[i] = status == CNN_OK;
    if (!h->open[i]) *own = described;
    return status;
}

/* A candidate with a reason is not timed. */
static void gather(const sweep *s, const sweep_group *g, sweep_point *const *points, int count, set *h)
{
    for (int i = 0; i < count; i++) {
        cnn_error why;
        candidate *c = &h->list[i];
        *c = (candidate){.session = &h->sessions[i],
                         .algorithm = points[i]->algorithm,
                         .watch = s->b.watches[g->session],
                         .own = &g->cases[points[i]->type]};
        const cnn_status status = open_session(s, g, points[i], h, i, &why);
        if (status == CNN_OK) continue;
        c->state = status == CNN_UNSUPPORTED || status == CNN_UNAVAILABLE ? CANDIDATE_UNSUPPORTED
                   : status == CNN_OUT_OF_MEMORY                          ? CANDIDATE_NO_MEMORY
                                                                          : CANDIDATE_FAILED;
        snprintf(c->reason, sizeof c->reason, "%s", why.message);
    }
}

/* Points have sessions of their own, so the control has one, too: where a session's threads happen to run is part of
 * what two figures of the same settings differ by. */
static void add_control(const sweep *s, const sweep_group *g, const sweep_point *first, int count, set *h)
{
    cnn_error why;
    if (h->open[0] && open_session(s, g, first, h, count, &why) == CNN_OK) h->list[0].again = &h->sessions[count];
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

/* What the operation's record leaves to the command that repeats it, and what the figure rests on. */
void sweep_record_identity(cnn_record *record, const sweep *s, const sweep_group *g)
{
    record_int(record, "seed", s->b.options->seed);
    record_text(record, "build", s->rows.build);
    record_text(record, "libraries", s->libraries[g->session]);
}

cnn_record *sweep_point_record(const sweep *s, const sweep_group *g, const sweep_point *p, const char *kind)
{
    int64_t values[SWEEP_TABLE_MAX];
    char machine[CNN_NAME_MAX];
    const cnn_session session = sweep_describe(s, g, p, values);
    const cnn_problem problem = sweep_problem(s, g, p);
    cnn_record *record = record_new(kind);
    record_session(record, &session, p->algorithm.name);
    machine_name(&session, machine, sizeof machine);
    record_text(record, "machine", machine);
    record_problem(record, &problem, g->dir);
    record_text(record, "cache", s->b.params.cold ? "cold" : "hot");
    sweep_record_identity(record, s, g);
    return record;
}

/* Its figures are read from its record, as those of an earlier run are. */
static cnn_status record_point(sweep *s, sweep_group *g, sweep_point *p, const candidate *c, const set *h,
                               cnn_error *err)
{
    const vf_case *pc = &g->cases[p->type];
    char repro[REPRO_MAX], label[512];
    bench_repro(&s->b, c, pc, repro);
    sweep_label(s, g, p, label, sizeof label);
    cnn_record *record = candidate_record("sweep", c, pc, &s->b.params, repro);
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
    p->figures = s->rows.items[s->rows.count - 1].figures;
    if (h->round == 1 || c->state == CANDIDATE_WRONG) count_state(s, c, label);
    s->ran += h->round == 1;
    return record_write(s->b.output.sink, record, err);
}

/* After a fault, unlike a launch that was refused, a device fails whatever comes: then the figures of this set say
 * nothing, nor would those of later ones. The session that is open throughout tells. */
static cnn_status check_device(const sweep *s, const sweep_group *g, sweep_point *const *points, int count,
                               const set *h, cnn_error *err)
{
    cnn_error why;
    char label[512];
    for (int i = 0; i < count; i++) {
        if (!h->open[i] || h->list[i].state != CANDIDATE_FAILED) continue;
        if (cnn_sync(&s->b.sessions.list[g->session], &why) == CNN_OK) return CNN_OK;
        sweep_label(s, g, points[i], label, sizeof label);
        return CNN_FAIL(err, CNN_DEVICE, "the device failed for good in a set of %d points, %.150s among them: %.250s",
                        count, label, why.message);
    }
    return CNN_OK;
}

/* The reference's results are kept for the group's other sets. */
static cnn_status make_cases(sweep *s, sweep_group *g, sweep_point *const *points, int count, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < count; i++) {
        const int type = points[i]->type;
        const cnn_problem problem = sweep_problem(s, g, points[i]);
        if (g->has_case[type]) continue;
        status = bench_make_case(&s->b, &problem, g->dir, &g->cases[type], err);
        g->has_case[type] = status == CNN_OK;
    }
    return status;
}

cnn_status sweep_time_set(sweep *s, sweep_group *g, sweep_point *const *points, int count, int64_t round,
                          cnn_error *err)
{
    set *h = calloc(1, sizeof *h);
    if (!h) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a set of %d points", count);
    h->round = round;
    h->number = ++s->rows.sets;
    cnn_status status = make_cases(s, g, points, count, err);
    if (status == CNN_OK) {
        gather(s, g, points, count, h);
        add_control(s, g, points[0], count, h);
        status = candidates_time(h->list, count, NULL, &s->b.params, err);
    }
    const bool usual = points[0] == &g->points[0] && h->open[0] && h->list[0].state == CANDIDATE_TIMED;
    h->baseline = usual ? h->list[0].result.stats.median : NAN;
    if (status == CNN_OK) status = check_device(s, g, points, count, h, err);
    for (int i = 0; status == CNN_OK && i < count; i++) /* the default may have been recorded before */
        if (points[i]->figures.round == 0) status = record_point(s, g, points[i], &h->list[i], h, err);
    candidates_close(h->list, count);
    for (int i = count + 1; i-- > 0;) /* the first one's context last */
        if (h->open[i]) cnn_session_close(&h->sessions[i]);
    free(h);
    return status;
}
