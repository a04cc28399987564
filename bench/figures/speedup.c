/* speedup.c: which figures are compared with which. */
#include "speedup.h"

#include "harness/base/grow.h"
#include "harness/base/text.h"
#include "harness/record/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How a list of NAME[:ALGORITHM] names a figure. */
static record_naming choice(const char *list, const speedup_figure *f)
{
    return record_chosen(list, f->impl, f->algorithm);
}

/* ---- The two sides */

/* One kind of figures: epochs, or single operations. */
typedef struct sides {
    speedup_set *set;
    const speedup_request *request;
    bool epochs;
    const char *baseline;             /* a list; NULL: whatever is on a CPU */
    const speedup_figure *first_base; /* the first of the baseline: the others must be of its machine */
} sides;

static bool of_kind(const sides *s, const speedup_figure *f) { return (f->epoch != NULL) == s->epochs; }

static bool is_base(const sides *s, const speedup_figure *f)
{
    return of_kind(s, f) && (s->baseline ? choice(s->baseline, f) != RECORD_NOT_CHOSEN : !f->gpu);
}

static bool is_compared(const sides *s, const speedup_figure *f)
{
    if (!of_kind(s, f)) return false;
    if (s->request->impl) return choice(s->request->impl, f) != RECORD_NOT_CHOSEN;
    return s->baseline ? choice(s->baseline, f) == RECORD_NOT_CHOSEN : f->gpu;
}

/* Of the baseline's own implementation, the algorithms are what there is to compare. */
static bool by_algorithm(const sides *s, const speedup_figure *f)
{
    if (s->request->impl) return choice(s->request->impl, f) == RECORD_BY_ALGORITHM;
    return strcmp(f->impl, s->first_base->impl) == 0;
}

static bool same_task(const speedup_figure *a, const speedup_figure *b)
{
    if ((a->epoch != NULL) != (b->epoch != NULL)) return false;
    if (!a->epoch) return strcmp(a->task, b->task) == 0;
    return a->batch == b->batch && epoch_same_task(a->epoch, b->epoch);
}

/* The baseline's fastest figure of the task; NULL without one. Where the baseline is on a GPU, too, both sides have
 * their images there, or neither has. */
static const speedup_figure *base_of(const sides *s, const speedup_figure *own)
{
    const speedup_figure *best = NULL;
    for (int i = 0; i < s->set->n_figures; i++) {
        const speedup_figure *f = &s->set->figures[i];
        if (!is_base(s, f) || strcmp(f->machine, s->first_base->machine) != 0 || !same_task(f, own)) continue;
        if (f->gpu && f->uploaded != own->uploaded) continue;
        if (!best || f->seconds < best->seconds) best = f;
    }
    return best;
}

/* Nobody needs to name the baseline where records of CPUs and GPUs stand side by side: then it is the CPU. */
static cnn_status find_sides(sides *s, cnn_error *err)
{
    const speedup_set *set = s->set;
    const speedup_figure *first = NULL, *gpu = NULL;
    const char *fallback = s->request->fallback;
    bool has_fallback = false;
    for (int i = 0; i < set->n_figures; i++) {
        const speedup_figure *f = &set->figures[i];
        if (!of_kind(s, f)) continue;
        if (!first) first = f;
        if (f->gpu && !gpu) gpu = f;
        if (fallback && choice(fallback, f) != RECORD_NOT_CHOSEN) has_fallback = true;
    }
    s->baseline = s->request->baseline;
    if (!s->baseline && !gpu && !s->request->impl && has_fallback) s->baseline = fallback;
    for (int i = 0; i < set->n_figures && !s->first_base; i++)
        if (is_base(s, &set->figures[i])) s->first_base = &set->figures[i];
    if (!s->first_base && s->baseline)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%.200s:%d: neither this %s nor another is of the baseline %.64s",
                        first->path, first->line, s->epochs ? "epoch" : "figure", s->baseline);
    if (!s->first_base)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "%.200s:%d: this figure and all others are of %s: there is none of a CPU to compare with; "
                        "measure one (--impl cpu --out FILE), or name a baseline among these (--baseline %s)",
                        first->path, first->line, first->machine, first->impl);
    if (!s->baseline && !gpu && !s->request->impl)
        return CNN_FAIL(
            err, CNN_BAD_ARGUMENT,
            "%.200s:%d: this figure and all others are of a CPU: measure a GPU or cpu:naive, or name the baseline that "
            "the others are compared with (--baseline %s:%s)",
            first->path, first->line, first->impl, first->algorithm);
    return CNN_OK;
}

/* ---- Rows */

static bool same_curve(const speedup_figure *a, const speedup_figure *b)
{
    return strcmp(a->machine, b->machine) == 0 && a->uploaded == b->uploaded &&
           (a->epoch != NULL) == (b->epoch != NULL) && (!a->epoch || epoch_same_task(a->epoch, b->epoch));
}

/* The curve that the figure belongs to, made if need be; -1: no memory. */
static int curve_of(const sides *s, const speedup_figure *f, cnn_error *err)
{
    speedup_set *set = s->set;
    char name[2 * CNN_NAME_MAX];
    const bool algorithm = by_algorithm(s, f);
    snprintf(name, sizeof name, "%s%s%s", f->impl, algorithm ? ":" : "", algorithm ? f->algorithm : "");
    for (int i = 0; i < set->n_curves; i++)
        if (strcmp(set->curves[i].name, name) == 0 && same_curve(set->curves[i].first, f)) return i;
    speedup_curve *c = cnn_add_item(&set->curves, &set->n_curves, &set->curve_room, sizeof *c, "curves", err);
    if (!c) return -1;
    c->first = f;
    strcpy(c->name, name);
    return set->n_curves - 1;
}

/* A curve has one row a task: its fastest figure. */
static cnn_status add_row(speedup_set *set, const speedup_figure *base, const speedup_figure *own, int curve,
                          cnn_error *err)
{
    int i = 0;
    while (i < set->count && (set->rows[i].curve != curve || !same_task(set->rows[i].own, own))) i++;
    if (i < set->count && own->seconds >= set->rows[i].own->seconds) return CNN_OK;
    speedup *row = &set->rows[i];
    if (i == set->count) row = cnn_add_item(&set->rows, &set->count, &set->row_room, sizeof *row, "speedups", err);
    if (!row) return err->status;
    *row = (speedup){.base = base,
                     .own = own,
                     .curve = curve,
                     .ratio = base->seconds / own->seconds,
                     .low = base->low / own->high,
                     .high = base->high / own->low,
                     .moved = base->gpu ? NAN : base->seconds / (own->seconds + own->transfer_s),
                     .marks = base->marks | own->marks};
    return CNN_OK;
}

/* Whether the baseline did this in another type: then that is what is missing. */
static const speedup_figure *other_type(const sides *s, const speedup_figure *own)
{
    for (int i = 0; i < s->set->n_figures; i++) {
        const speedup_figure *f = &s->set->figures[i];
        if (is_base(s, f) && f->batch == own->batch && strcmp(f->problem, own->problem) == 0 &&
            strcmp(f->dir, own->dir) == 0 && (strcmp(f->dtype, own->dtype) != 0 || strcmp(f->math, own->math) != 0))
            return f;
    }
    return NULL;
}

/* The figures of a curve that have no baseline: the first, and how many. */
static cnn_status note_missing(const sides *s, const speedup_curve *curve, cnn_error *err)
{
    const speedup_figure *own = curve->missing, *f = own ? other_type(s, own) : NULL;
    char what[CNN_MESSAGE_MAX / 4], type[48] = "", others[64] = "";
    const int more = curve->n_missing - 1;
    if (!own) return CNN_OK;
    if (s->epochs)
        snprintf(what, sizeof what, "batch %lld", (long long)own->batch);
    else
        snprintf(what, sizeof what, "%.80s %s", own->problem, own->dir);
    if (f) snprintf(type, sizeof type, ", which has it in %s, math %s", f->dtype, f->math);
    if (more > 0) snprintf(others, sizeof others, "; %d more of its figures likewise", more);
    return speedup_note(s->set, err,
                        "%.200s:%d: %s:%s, %s, %s, math %s: left out, no such figure of the baseline %.64s%s%s",
                        own->path, own->line, own->impl, own->algorithm, what, own->dtype, own->math,
                        s->baseline ? s->baseline : "(a CPU's)", type, others);
}

/* Figures of the baseline that another machine measured. */
static cnn_status note_machines(const sides *s, cnn_error *err)
{
    const speedup_figure *first = NULL;
    int count = 0;
    for (int i = 0; i < s->set->n_figures; i++) {
        const speedup_figure *f = &s->set->figures[i];
        if (!is_base(s, f) || strcmp(f->machine, s->first_base->machine) == 0) continue;
        if (!first) first = f;
        count++;
    }
    if (!first) return CNN_OK;
    return speedup_note(s->set, err, "%.200s:%d: the baseline is of %s, as in %.150s:%d; %d figure%s of %s left out",
                        first->path, first->line, s->first_base->machine, s->first_base->path, s->first_base->line,
                        count, count == 1 ? "" : "s", first->machine);
}

/* A figure without a partner at the baseline is counted, and named once a curve, instead of being dropped. */
static cnn_status add_rows(const sides *s, cnn_error *err)
{
    speedup_set *set = s->set;
    const int first_curve = set->n_curves, before = set->count;
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < set->n_figures; i++) {
        const speedup_figure *f = &set->figures[i];
        if (!is_compared(s, f)) continue;
        const int curve = curve_of(s, f, err);
        if (curve < 0) return err->status;
        const speedup_figure *base = base_of(s, f);
        if (base) {
            status = add_row(set, base, f, curve, err);
        } else {
            speedup_curve *c = &set->curves[curve];
            if (c->n_missing++ == 0) c->missing = f;
        }
    }
    if (set->n_curves == first_curve)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%.200s:%d: %s", s->first_base->path, s->first_base->line,
                        s->request->impl ? "neither this figure nor another is of what --impl names"
                                         : "this figure and all others are of the baseline: there is none to compare");
    for (int c = first_curve; status == CNN_OK && c < set->n_curves; c++)
        status = note_missing(s, &set->curves[c], err);
    if (status == CNN_OK) status = note_machines(s, err);
    if (status != CNN_OK || set->count > before) return status;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the baseline and what is compared have no %s in common",
                    s->epochs ? "batch size" : "problem");
}

/* By curve; epochs by their batch, operations in the order in which they were read. */
static int by_curve(const void *a, const void *b)
{
    const speedup *p = a, *q = b;
    if (p->curve != q->curve) return p->curve < q->curve ? -1 : 1;
    if (p->own->epoch) return (p->own->batch > q->own->batch) - (p->own->batch < q->own->batch);
    return (p->own > q->own) - (p->own < q->own);
}

cnn_status speedup_make(speedup_set *set, const speedup_request *request, cnn_error *err)
{
    cnn_error why[2] = {{.status = CNN_OK}, {.status = CNN_OK}}; /* of operations, of epochs */
    bool any[2] = {false, false};
    cnn_status status = speedup_finish_figures(set, err);
    for (int i = 0; i < set->n_figures; i++) any[set->figures[i].epoch != NULL] = true;
    for (int kind = 1; status == CNN_OK && kind >= 0; kind--) {
        sides s = {.set = set, .request = request, .epochs = kind == 1};
        cnn_status made = any[kind] ? find_sides(&s, &why[kind]) : CNN_OK;
        if (any[kind] && made == CNN_OK) made = add_rows(&s, &why[kind]);
        if (made == CNN_OK || made == CNN_BAD_ARGUMENT) continue; /* the other kind may do */
        *err = why[kind];
        return made;
    }
    if (status != CNN_OK) return status;
    if (set->count == 0 && (any[0] || any[1])) {
        *err = why[any[1]];
        return err->status;
    }
    if (set->count == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "these files hold no figures to compare: `benchcnn sweep batch --out FILE` writes epochs, "
                        "`benchcnn bench --out FILE` single operations");
    qsort(set->rows, (size_t)set->count, sizeof *set->rows, by_curve);
    for (int kind = 1; status == CNN_OK && kind >= 0; kind--)
        if (why[kind].status != CNN_OK) status = speedup_note(set, err, "%s", why[kind].message);
    return status;
}

bool speedup_has(const speedup_set *set, bool epochs)
{
    for (int i = 0; i < set->count; i++)
        if ((set->rows[i].own->epoch != NULL) == epochs) return true;
    return false;
}

void speedup_baseline_text(const speedup_set *set, bool epochs, char *text, size_t size)
{
    char machine[CNN_NAME_MAX], names[4 * CNN_NAME_MAX] = "";
    const speedup_figure *first = NULL;
    int fewest = 0, most = 0;
    for (int i = 0; i < set->count; i++) {
        const speedup_figure *b = set->rows[i].base;
        char name[2 * CNN_NAME_MAX];
        if ((b->epoch != NULL) != epochs) continue;
        fewest = first && fewest < b->threads ? fewest : b->threads;
        most = most > b->threads ? most : b->threads;
        snprintf(name, sizeof name, "%s:%s", b->impl, b->algorithm);
        figure_list_add(names, sizeof names, name);
        first = b;
    }
    text[0] = '\0';
    if (!first) return;
    series_machine(first->machine, machine, sizeof machine);
    snprintf(text, size, "%s%s on %s", strchr(names, ',') ? "the fastest of " : "", names, machine);
    if (first->gpu) return;
    if (fewest < most) cnn_append(text, size, ", %d to", fewest);
    cnn_append(text, size, "%s %d thread%s", fewest < most ? "" : ",", most, most == 1 ? "" : "s");
}
