/* points.c: the product of the axes for one implementation, problem and direction. */
#include "harness/base/text.h"
#include "harness/device/call.h"
#include "harness/problem/names.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

enum { ALGORITHMS_MAX = 128 };

cnn_problem sweep_problem(const sweep *s, const sweep_group *g, const sweep_point *point)
{
    cnn_problem problem = g->problem;
    cli_type_of(g->entry, &s->b.types, point->type, &problem.u.type);
    return problem;
}

static const cnn_session *base_of(const sweep *s, const sweep_group *g) { return &s->b.sessions.list[g->session]; }

/* With the default's settings: those of the command line, or the tuned ones. */
static const cnn_session *default_of(const sweep *s, const sweep_group *g, int type)
{
    return g->wants_tuned ? g->tuned[type].session : base_of(s, g);
}

cnn_session sweep_describe(const sweep *s, const sweep_group *g, const sweep_point *point, int64_t *values)
{
    cnn_session session = *default_of(s, g, point->type);
    for (int i = 0; i < session.impl->n_knobs; i++) values[i] = session.knobs[i];
    for (int k = 0; k < s->axes.n_knobs; k++)
        if (s->axes.knobs[k].impl == session.impl) values[s->axes.knobs[k].index] = point->knobs[k];
    session.threads = point->threads;
    session.knobs = values;
    return session;
}

void sweep_label(const sweep *s, const sweep_group *g, const sweep_point *point, char *text, size_t size)
{
    const cnn_impl *impl = base_of(s, g)->impl;
    const cnn_type *type = &s->b.types.types[point->type];
    snprintf(text, size, "%s", point->algorithm.name);
    if (s->axes.dtype) cnn_append(text, size, " %s", cnn_dtype_name(type->dtype));
    if (s->axes.layout) cnn_append(text, size, " %s", cnn_layout_name(type->layout));
    if (s->axes.threads) cnn_append(text, size, " threads=%d", point->threads);
    for (int k = 0; k < s->axes.n_knobs; k++) {
        const sweep_knob *knob = &s->axes.knobs[k];
        if (knob->impl == impl && sweep_concerns(impl, &impl->knobs[knob->index], point->algorithm.name))
            cnn_append(text, size, " %s=%lld", impl->knobs[knob->index].name, (long long)point->knobs[k]);
    }
}

static bool same(const sweep_point *a, const sweep_point *b)
{
    return strcmp(a->algorithm.name, b->algorithm.name) == 0 && a->threads == b->threads &&
           memcmp(a->knobs, b->knobs, sizeof a->knobs) == 0;
}

/* With --impl NAME:tuned any algorithm may be swept. */
static bool is_chosen(const sweep *s, const sweep_group *g, const cnn_algorithm *algorithm)
{
    return (g->wants_tuned && s->axes.algorithm) || cli_chosen(&s->b.sessions, base_of(s, g), algorithm);
}

/* Those that --impl chooses, the default first: the tuned one, or the first one that supports the problem. Alone,
 * unless algorithms are swept. list: ALGORITHMS_MAX + 1. */
static cnn_status chosen_algorithms(const sweep *s, const sweep_group *g, int type, cnn_algorithm *list, int *count,
                                    cnn_error *err)
{
    cnn_algorithm all[ALGORITHMS_MAX];
    const cnn_session *base = base_of(s, g);
    const cnn_algorithm *tuned = &g->tuned[type].algorithm, *first = NULL;
    const cnn_algorithm *usual = tuned->name[0] != '\0' ? tuned : NULL;
    const cnn_problem problem = sweep_problem(s, g, &(sweep_point){.type = type});
    int found;
    cnn_error why;
    *count = 0;
    if (cnn_algorithms(base, &problem, g->dir, all, ALGORITHMS_MAX, &found, err) != CNN_OK) return err->status;
    for (int i = 0; i < found && !usual; i++) {
        if (!is_chosen(s, g, &all[i])) continue;
        if (!first) first = &all[i];
        if (cnn_supports(base, &(cnn_request){&problem, g->dir, &all[i], NULL}, &why) == CNN_OK) usual = &all[i];
    }
    if (!usual) usual = first;
    if (!usual) return CNN_OK;
    list[(*count)++] = *usual;
    for (int i = 0; s->axes.algorithm && i < found; i++)
        if (is_chosen(s, g, &all[i]) && strcmp(all[i].name, usual->name) != 0) list[(*count)++] = all[i];
    return CNN_OK;
}

static sweep_point default_point(const sweep *s, const sweep_group *g, int type, const cnn_algorithm *usual)
{
    const cnn_session *base = default_of(s, g, type);
    sweep_point p = {.algorithm = *usual, .type = type, .threads = base->threads, .usual = true, .alive = true};
    for (int k = 0; k < s->axes.n_knobs; k++)
        if (s->axes.knobs[k].impl == base->impl) p.knobs[k] = base->knobs[s->axes.knobs[k].index];
    return p;
}

/* The n-th combination of knob values; false behind the last. */
static bool combination(const sweep *s, const cnn_impl *impl, int64_t n, sweep_point *p)
{
    for (int k = s->axes.n_knobs - 1; k >= 0; k--) {
        const sweep_knob *knob = &s->axes.knobs[k];
        if (knob->impl != impl) continue;
        p->knobs[k] = knob->values[n % knob->count];
        n /= knob->count;
    }
    return n == 0;
}

/* Of such knobs it takes the default's values. False: another combination is the same point then. */
static bool settle(const sweep *s, const cnn_impl *impl, const sweep_point *usual, sweep_point *p)
{
    for (int k = 0; k < s->axes.n_knobs; k++) {
        const sweep_knob *knob = &s->axes.knobs[k];
        if (knob->impl != impl || sweep_concerns(impl, &impl->knobs[knob->index], p->algorithm.name)) continue;
        if (p->knobs[k] != knob->values[0]) return false;
        p->knobs[k] = usual->knobs[k];
    }
    return true;
}

static cnn_status add(sweep_group *g, const sweep_point *p, cnn_error *err)
{
    if (g->count == SWEEP_POINTS_MAX)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "sweep: more than %d points of one problem; give fewer values",
                        SWEEP_POINTS_MAX);
    g->points[g->count++] = *p;
    return CNN_OK;
}

/* Threads mean nothing to a device. */
static cnn_status add_type(const sweep *s, sweep_group *g, int type, cnn_error *err)
{
    cnn_algorithm list[ALGORITHMS_MAX + 1];
    int count;
    const cnn_impl *impl = base_of(s, g)->impl;
    const int first_threads = impl->device_kind == CNN_DEVICE_CPU ? 0 : s->axes.n_threads - 1;
    cnn_status status = chosen_algorithms(s, g, type, list, &count, err);
    if (status != CNN_OK || count == 0) return status;
    const sweep_point usual = default_point(s, g, type, &list[0]);
    status = add(g, &usual, err);
    for (int t = first_threads; status == CNN_OK && t < s->axes.n_threads; t++) {
        sweep_point p = usual;
        p.usual = false;
        p.threads = (int)s->axes.thread_counts[t];
        for (int64_t n = 0; status == CNN_OK && combination(s, impl, n, &p); n++)
            for (int a = 0; status == CNN_OK && a < count; a++) {
                sweep_point own = p;
                own.algorithm = list[a];
                if (settle(s, impl, &usual, &own) && !same(&own, &usual)) status = add(g, &own, err);
            }
    }
    return status;
}

static cnn_status pick_tuned(const sweep *s, sweep_group *g, int type, cnn_error *err)
{
    const cnn_problem problem = sweep_problem(s, g, &(sweep_point){.type = type});
    const cnn_status status = tuned_choose(s->b.tuned, base_of(s, g), &problem, g->dir, &g->tuned[type], err);
    return status == CNN_UNSUPPORTED ? CNN_OK : status; /* its point will say so, if it has one */
}

cnn_status sweep_make_points(sweep *s, sweep_group *g, cnn_error *err)
{
    const cnn_impl *impl = base_of(s, g)->impl;
    g->count = 0;
    g->points = NULL;
    if (impl->n_knobs > SWEEP_TABLE_MAX)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s has %d knobs, more than the %d that can be swept", impl->name,
                        impl->n_knobs, SWEEP_TABLE_MAX);
    g->points = calloc(SWEEP_POINTS_MAX, sizeof *g->points);
    if (!g->points) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d points", SWEEP_POINTS_MAX);
    cnn_status status = CNN_OK;
    g->wants_tuned = cli_wants_tuned(&s->b.sessions, base_of(s, g));
    for (int t = 0; status == CNN_OK && t < s->b.types.count; t++) {
        cnn_type type;
        if (!cli_type_of(g->entry, &s->b.types, t, &type)) continue;
        if (g->wants_tuned) status = pick_tuned(s, g, t, err);
        if (status == CNN_OK) status = add_type(s, g, t, err);
    }
    return status;
}
