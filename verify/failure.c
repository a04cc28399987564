/* failure.c: collects wrong elements and tells where they lie. A kernel's mistake has a shape: the last channels (a
 * tail), the border (padding), every eighth column (a vector's lane, a tile's edge); the shape is worth more than a
 * list of numbers. */
#include "engine.h"

#include "harness/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- Collecting. */

void vf_failure_start(vf_failure *f, const cnn_operand *operand)
{
    memset(f, 0, sizeof *f);
    f->operand = operand;
    f->whose = "";
    for (int i = 0; i < 4; i++) f->axis[i].first = operand->dims[i];
}

/* The part in which index i lies when an axis is cut into at most `bins`. */
static int64_t bin_of(int64_t i, int64_t size, int64_t bins) { return i * least(size, bins) / size; }

/* How many indices lie in part b. */
static int64_t bin_width(int64_t b, int64_t size, int64_t bins)
{
    const int64_t parts = least(size, bins);
    return ((b + 1) * size + parts - 1) / parts - (b * size + parts - 1) / parts;
}

static void add_position(vf_failure *f, int64_t index)
{
    const int64_t *dims = f->operand->dims;
    int64_t at[4];
    for (int i = 3; i >= 0; i--) {
        at[i] = index % dims[i];
        index /= dims[i];
        vf_axis *a = &f->axis[i];
        a->first = least(a->first, at[i]);
        if (at[i] > a->last) a->last = at[i];
        a->residues |= (uint64_t)1 << (at[i] % VF_RESIDUES);
        a->bin[bin_of(at[i], dims[i], VF_BINS)]++;
    }
    const int64_t inside = least(least(at[2], dims[2] - 1 - at[2]), least(at[3], dims[3] - 1 - at[3]));
    if (inside > f->border) f->border = inside;
    f->map[bin_of(at[2], dims[2], VF_BINS / 3)][bin_of(at[3], dims[3], VF_BINS)]++;
}

void vf_failure_add(vf_failure *f, const vf_wrong_element *e)
{
    if (f->count < VF_FIRST) f->first[f->count] = *e;
    f->count++;
    f->not_finite += !vf_finite(e->got);
    f->zero += e->got == 0.0;
    const double before = f->before != NULL ? f->before[e->index] : 0.0;
    f->doubled += fabs(e->got - 2.0 * e->expected + before) <= e->bound + 1e-6 * fabs(e->expected);
    add_position(f, e->index);
}

/* ---- The guess. */

static const char *axis_name(const cnn_operand *o, int axis)
{
    static const char *const tensor[] = {"n", "c", "h", "w"}, *const weights[] = {"oc", "ic", "kh", "kw"};
    const bool like_weights = o->shape == CNN_SHAPE_FLAT && o->dims[2] * o->dims[3] > 1;
    if (o->shape == CNN_SHAPE_FLAT && o->dims[1] * o->dims[2] * o->dims[3] == 1) return "index";
    if (axis == 2 && o->depth > 1) return like_weights ? "row kd x kh" : "row d x h"; /* counted together */
    return like_weights ? weights[axis] : tensor[axis];
}

static int bits_in(uint64_t v)
{
    int count = 0;
    for (; v != 0; v &= v - 1) count++;
    return count;
}

/* Bit r: some error at an index that is r modulo `period`. */
static uint64_t fold(uint64_t residues, int period)
{
    uint64_t folded = 0;
    for (int r = 0; r < VF_RESIDUES; r++) folded |= (residues >> r & 1) << (r % period);
    return folded;
}

/* Whether every index that is one of these residues has an error; of a longer axis than there are bits nobody knows. */
static bool all_of(const vf_axis *a, int64_t size, int period)
{
    const uint64_t folded = fold(a->residues, period);
    for (int64_t at = 0; at < size && size <= VF_RESIDUES; at++)
        if ((folded >> at % period & 1) != (a->residues >> at & 1)) return false;
    return true;
}

/* "w % 8 = 7": errors at one or two places of every period, as few as can be, of the longest such period; else "". */
static void periodic(const vf_axis *a, int64_t size, const char *name, char *text, size_t room)
{
    int best = 0, fewest = 3;
    for (int period = 4; period <= VF_RESIDUES && size >= 2 * period; period *= 2) {
        const int places = bits_in(fold(a->residues, period));
        if (places <= fewest && places <= (period > 4 ? 2 : 1) && all_of(a, size, period))
            best = period, fewest = places;
    }
    if (best == 0) return;
    cnn_append(text, room, "at %s %% %d =", name, best);
    for (int r = 0, n = 0; r < best; r++)
        if (fold(a->residues, best) >> r & 1) cnn_append(text, room, "%s %d", n++ > 0 ? " or" : "", r);
}

/* "at w = 12 and 15 of 16": two or three places apart from each other; else "". */
static void few_places(const vf_axis *a, int64_t size, const char *name, char *text, size_t room)
{
    const int places = bits_in(a->residues);
    if (size > VF_RESIDUES || places > 3 || places == a->last - a->first + 1) return;
    cnn_append(text, room, "at %s =", name);
    for (int64_t at = a->first; at <= a->last; at++)
        if (a->residues >> at & 1) cnn_append(text, room, "%s %lld", at > a->first ? " and" : "", (long long)at);
    cnn_append(text, room, " of %lld", (long long)size);
}

/* What is special about the errors' indices along one axis; "" for nothing. */
static void place_on_axis(const vf_failure *f, int axis, char *text, size_t room)
{
    const vf_axis *a = &f->axis[axis];
    const int64_t size = f->operand->dims[axis], width = a->last - a->first + 1;
    const char *name = axis_name(f->operand, axis);
    text[0] = '\0';
    if (size == 1) return;
    if (size <= VF_RESIDUES && width > 1) periodic(a, size, name, text, room);
    if (text[0] == '\0') few_places(a, size, name, text, room);
    if (text[0] != '\0') return;
    if (width == 1)
        cnn_append(text, room, "at %s = %lld%s %lld", name, (long long)a->first,
                   a->first == size - 1 ? ", the last of"
                   : a->first == 0      ? ", the first of"
                                        : " of",
                   (long long)size);
    else if (2 * width <= size && a->last == size - 1)
        cnn_append(text, room, "in the last %lld of %lld %s", (long long)width, (long long)size, name);
    else if (2 * width <= size && a->first == 0)
        cnn_append(text, room, "in the first %lld of %lld %s", (long long)width, (long long)size, name);
    else
        periodic(a, size, name, text, room);
    if (text[0] == '\0' && 2 * width <= size)
        cnn_append(text, room, "at %s from %lld to %lld of %lld", name, (long long)a->first, (long long)a->last,
                   (long long)size);
}

void vf_failure_guess(const vf_failure *f, char *text, size_t size)
{
    const cnn_operand *o = f->operand;
    const int64_t depth = 2 * (f->border + 1), narrow = least(o->dims[2], o->dims[3]);
    int places = 0;
    text[0] = '\0';
    if (f->count == o->count && o->count > 1) cnn_append(text, size, "every element is wrong");
    for (int i = 0; i < 4 && f->count < o->count; i++) {
        char place[96];
        place_on_axis(f, i, place, sizeof place);
        if (place[0] != '\0') cnn_append(text, size, "%s %s", places++ == 0 ? "errors only" : " and", place);
    }
    if (places == 0 && f->count < o->count && o->shape == CNN_SHAPE_TENSOR && narrow > 2 && depth < narrow &&
        f->count > 1)
        cnn_append(text, size, "errors only within %lld of the border of h and w", (long long)f->border + 1), places++;
    if (places == 0 && f->count < o->count) cnn_append(text, size, "errors all over the array");
    if (f->not_finite == f->count)
        cnn_append(text, size, "; %s NaN or infinite", f->count == 1 ? "it is" : "all are");
    else if (f->not_finite > 0)
        cnn_append(text, size, "; %lld NaN or infinite", (long long)f->not_finite);
    else if (f->zero == f->count)
        cnn_append(text, size, "; the wrong are 0: not computed?");
    else if (f->doubled == f->count)
        cnn_append(text, size,
                   f->before != NULL ? "; to the wrong the sum is added twice: computed twice, by two threads?"
                                     : "; the wrong are twice what they should be: added twice?");
}

/* ---- The text. */

static char mark(int64_t wrong, int64_t of) { return wrong == 0 ? '.' : wrong == of ? '#' : '+'; }

static void draw_map(const vf_failure *f, char *text)
{
    const int64_t *dims = f->operand->dims, rows = least(dims[2], VF_BINS / 3), columns = least(dims[3], VF_BINS);
    if (dims[2] == 1 || dims[3] == 1) return;
    cnn_append(text, VERIFY_WHERE_MAX, "      %s down, %s across (. right, + some wrong, # all wrong",
               axis_name(f->operand, 2), axis_name(f->operand, 3));
    if (dims[2] > rows || dims[3] > columns)
        cnn_append(text, VERIFY_WHERE_MAX, "; a sign stands for up to %lld x %lld",
                   (long long)((dims[2] - 1) / rows + 1), (long long)((dims[3] - 1) / columns + 1));
    cnn_append(text, VERIFY_WHERE_MAX, "):\n");
    for (int64_t r = 0; r < rows; r++) {
        char line[VF_BINS + 1] = {0};
        for (int64_t c = 0; c < columns; c++)
            line[c] = mark(f->map[r][c],
                           dims[0] * dims[1] * bin_width(r, dims[2], VF_BINS / 3) * bin_width(c, dims[3], VF_BINS));
        cnn_append(text, VERIFY_WHERE_MAX, "        %s\n", line);
    }
}

static void draw_axis(const vf_failure *f, int axis, char *text)
{
    const int64_t size = f->operand->dims[axis], bins = least(size, VF_BINS);
    const bool in_map = axis >= 2 && f->operand->dims[2] > 1 && f->operand->dims[3] > 1;
    char line[VF_BINS + 1] = {0};
    if (size == 1 || in_map) return;
    for (int64_t b = 0; b < bins; b++)
        line[b] = mark(f->axis[axis].bin[b], f->operand->count / size * bin_width(b, size, VF_BINS));
    cnn_append(text, VERIFY_WHERE_MAX, "      by %-5s %s\n", axis_name(f->operand, axis), line);
}

void vf_failure_text(const vf_failure *f, char text[VERIFY_WHERE_MAX])
{
    char name[128], guess[320];
    text[0] = '\0';
    vf_failure_guess(f, guess, sizeof guess);
    cnn_append(text, VERIFY_WHERE_MAX, "      %lld of %lld elements of %s%s %s wrong: %s\n", (long long)f->count,
               (long long)f->operand->count, f->whose, f->operand->name, f->count == 1 ? "is" : "are", guess);
    for (int64_t i = 0; i < f->count && i < VF_FIRST; i++) {
        const vf_wrong_element *e = &f->first[i];
        vf_element_name(f->operand, e->index, name, sizeof name);
        cnn_append(text, VERIFY_WHERE_MAX, "        %s: expected %.9g, got %.9g, error %.3g, bound %.3g\n", name,
                   vf_shown(e->expected), vf_shown(e->got), fabs(e->got - e->expected), e->bound);
    }
    if (f->count == f->operand->count) return;
    for (int axis = 0; axis < 4; axis++) draw_axis(f, axis, text);
    draw_map(f, text);
}

void vf_tell_output(const vf_case *c, int operand, const vf_rounding *bounds, const double *got, const char *whose,
                    verify_result *result)
{
    const cnn_operand *o = &c->call.operands[operand];
    vf_rounding own;
    if (bounds != NULL) own = vf_rounding_in(bounds, c, o);
    const vf_allowance allowance =
        vf_allow(c->call.pool, bounds != NULL ? &own : NULL, &c->call.out[operand], o->count);
    vf_failure f;
    vf_failure_start(&f, o);
    f.whose = whose;
    f.before = c->call.beta != 0.0 ? c->before[operand] : NULL;
    for (int64_t e = 0; e < o->count; e++) {
        const vf_wrong_element element = {e, c->after[operand][e], got[e], vf_allowed(&allowance, e)};
        if (!vf_held(element.expected, element.got, element.bound)) vf_failure_add(&f, &element);
    }
    if (f.count > 0) vf_failure_text(&f, result->where);
}

void vf_tell_failure(const vf_subject *s, const vf_case *c, const vf_run *run, const vf_rounding *bounds,
                     verify_result *result)
{
    const verify_options *options = &s->engine->options;
    verify_failure all = {.result = result, .operands = c->call.operands, .count = c->call.count};
    if (result->state != VERIFY_FAILED || result->where[0] != '\0') return;
    for (int i = 0; i < c->call.count; i++) {
        all.before[i] = c->before[i], all.expected[i] = c->after[i], all.got[i] = run->after[i];
        if (c->after[i] == NULL || run->after[i] == NULL || result->where[0] != '\0') continue;
        vf_tell_output(c, i, bounds, run->after[i], "", result);
    }
    const size_t length = strlen(result->reason);
    if (result->where[0] != '\0') vf_explain(s, c, run, result);
    if (result->where[0] != '\0' && length == strlen(result->reason)) {
        vf_explain_half(s, c, run, result);
        vf_explain_whole(s, c, run, result);
        vf_explain_quantized(s, c, run, result);
    }
    if (result->where[0] != '\0' && options->failed != NULL) options->failed(options->failed_user, &all);
}
