/* loops.c: orders and sets of products in terms of the axes that they are counted by. */
#include "shape.h"

#include "harness/base/text.h"

#include <stdlib.h>

/* ---- An order. */

typedef struct loop {
    int axis, step, count;
} loop;

/* The one axis in which `to` differs from `from`; -1: there are none or several. */
static int one_axis(const sum_axes *axes, int from, int to, int *step)
{
    int found = -1;
    for (int a = 0; a < axes->count; a++) {
        const int difference = axes->at[to][a] - axes->at[from][a];
        if (difference == 0) continue;
        if (found >= 0) return -1;
        found = a;
        *step = difference;
    }
    return found;
}

static bool follows(const sum_axes *axes, int from, int to, const loop *l)
{
    int step = 0;
    return one_axis(axes, from, to, &step) == l->axis && step == l->step;
}

/* The next loop outwards: heads[k * inner] are where the loops within begin anew. It must be the same all along. */
static bool next_loop(const sum_axes *axes, const int *leaves, int count, int inner, loop *l)
{
    l->axis = one_axis(axes, leaves[0], leaves[inner], &l->step);
    if (l->axis < 0) return false;
    l->count = 2;
    while ((l->count + 1) * inner <= count &&
           follows(axes, leaves[(l->count - 1) * inner], leaves[l->count * inner], l))
        l->count++;
    const int outer = l->count * inner;
    if (count % outer != 0) return false;
    for (int at = 0; at < count; at += outer)
        for (int k = 1; k < l->count; k++)
            if (!follows(axes, leaves[at + (k - 1) * inner], leaves[at + k * inner], l)) return false;
    return true;
}

/* "ic", "ic backwards", "ic by 8", "8 ic". */
static void append_loop(const sum_axes *axes, const loop *l, char *text, size_t size)
{
    const int step = abs(l->step);
    const bool part = step == 1 && l->count < axes->extent[l->axis];
    if (part) cnn_append(text, size, "%d ", l->count);
    cnn_append(text, size, "%s", axes->name[l->axis]);
    if (step > 1) cnn_append(text, size, " by %d", step);
    if (l->step < 0) cnn_append(text, size, " backwards");
}

static bool loops_in(const sum_axes *axes, const int *leaves, int count, char *text, size_t size)
{
    enum { DEEP = 12 };
    loop loops[DEEP];
    int depth = 0;
    for (int inner = 1; inner < count; inner *= loops[depth++].count)
        if (depth == DEEP || !next_loop(axes, leaves, count, inner, &loops[depth])) return false;
    text[0] = '\0';
    while (depth-- > 0) {
        append_loop(axes, &loops[depth], text, size);
        if (depth > 0) cnn_append(text, size, ", ");
    }
    return true;
}

bool sum_loops(const sum_views *views, const int *leaves, int count, char *text, size_t size)
{
    for (int v = 0; v < views->count; v++)
        if (loops_in(&views->list[v], leaves, count, text, size)) return true;
    return false;
}

/* ---- A set. */

static const char *ordinal(int n)
{
    const bool teen = n % 100 / 10 == 1;
    return teen || n % 10 == 0 || n % 10 > 3 ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : "rd";
}

static int compare_ints(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* How many different numbers, and the one distance between neighbours: 0 where there is none. Sorts them. */
static int distances(int *values, int count, int *step)
{
    int different = 1;
    *step = -1;
    qsort(values, (size_t)count, sizeof *values, compare_ints);
    for (int i = 1; i < count; i++) {
        const int distance = values[i] - values[i - 1];
        if (distance == 0) continue;
        different++;
        *step = *step < 0 || *step == distance ? distance : 0;
    }
    return different;
}

/* What is the matter with one axis, if anything; returns how many of its indices are in the part, 0: no regular set. */
static int tell_axis(const sum_axes *axes, int axis, int *values, int count, char *text, size_t size)
{
    const char *name = axes->name[axis], *comma = text[0] != '\0' ? ", " : "";
    int step;
    const int different = distances(values, count, &step);
    if (different == axes->extent[axis]) return different;
    if (different > 1 && step == 0) return 0;
    if (different == 1)
        cnn_append(text, size, "%seach %s", comma, name);
    else if (step == 1)
        cnn_append(text, size, "%s%d %s", comma, different, name);
    else
        cnn_append(text, size, "%severy %d%s %s", comma, step, ordinal(step), name);
    return different;
}

static bool tell_axes(const sum_axes *axes, const int *leaves, int count, int *values, char *text, size_t size)
{
    int64_t all = 1;
    for (int a = 0; a < axes->count; a++) {
        for (int i = 0; i < count; i++) values[i] = axes->at[leaves[i]][a];
        all *= tell_axis(axes, a, values, count, text, size);
    }
    return all == count && text[0] != '\0';
}

static bool tell_numbers(const int *leaves, int count, int *values, char *text, size_t size)
{
    int step;
    for (int i = 0; i < count; i++) values[i] = leaves[i];
    distances(values, count, &step);
    text[0] = '\0';
    if (step == 1) cnn_append(text, size, "%d products in a row", count);
    if (step > 1) cnn_append(text, size, "every %d%s product", step, ordinal(step));
    return step > 0;
}

bool sum_part(const sum_views *views, int all, const int *leaves, int count, char *text, size_t size)
{
    int *values = malloc((size_t)count * sizeof *values);
    bool found = false;
    for (int v = 0; values != NULL && count < all && !found && v < views->count - 1; v++) {
        text[0] = '\0';
        found = tell_axes(&views->list[v], leaves, count, values, text, size);
    }
    if (values != NULL && count < all && !found) found = tell_numbers(leaves, count, values, text, size);
    free(values);
    return found;
}
