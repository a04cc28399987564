/* sharing.c: buffers that are never needed at the same time share memory.
 *
 * A buffer is alive from the first call of a step that uses it to the last. Those that are alive together get places
 * apart. On two streams calls run at once, too: there one buffer's memory is another's only where all calls that use
 * the one are over before any that uses the other begins. Two orders of placing are tried, each buffer at the lowest
 * place that is free for all its life: the largest first, and the first to be used first. */
#include "harness/problem/names.h"
#include "parts.h"

#include <limits.h>
#include <stdlib.h>

/* ---- Lives ---- */

static const step_life unused = {INT_MAX, -1, {{INT_MAX, -1, -1}, {INT_MAX, -1, -1}}};

static void use(step_life *life, const step_call *call, int i)
{
    step_use *on = &life->on[call->stream];
    if (life->last < 0) life->first = i;
    life->last = i;
    if (on->last < 0) on->first = i, on->known = call->known;
    on->last = i;
}

void step_lives(const cnn_trainer *t, const call_list *list, step_life *lives)
{
    for (int b = 0; b < t->n_buffers; b++) lives[b] = unused;
    for (int i = 0; i < list->count; i++)
        for (int o = 0; o < list->calls[i].n_operands; o++) {
            const size_t at = list->calls[i].at[o];
            if (step_is_buffer(at)) use(&lives[at - BUFFER], &list->calls[i], i);
        }
}

cnn_status step_peak(const cnn_trainer *t, const call_list *list, size_t *bytes, cnn_error *err)
{
    step_life *lives = calloc((size_t)t->n_buffers + 1, sizeof *lives);
    size_t *change = calloc((size_t)list->count + 1, sizeof *change), alive = 0; /* modulo 2^64: also downwards */
    *bytes = 0;
    if (lives != NULL && change != NULL) step_lives(t, list, lives);
    for (int b = 0; lives != NULL && change != NULL && b < t->n_buffers; b++) {
        if (lives[b].last < 0) continue;
        change[lives[b].first] += step_rounded(t->buffers[b].bytes);
        change[lives[b].last + 1] -= step_rounded(t->buffers[b].bytes);
    }
    for (int i = 0; change != NULL && i < list->count; i++) {
        alive += change[i];
        if (alive > *bytes) *bytes = alive;
    }
    const bool made = lives != NULL && change != NULL;
    free(lives);
    free(change);
    return made ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to plan memory");
}

/* Whether all calls that use `a` are over before any that uses `b` begins. Who knows of a call knows of those before
 * it. */
static bool ends_before(const step_life *a, const step_life *b)
{
    for (int s = 0; s < STREAMS; s++) {
        const step_use *first = &b->on[s], *same = &a->on[s], *other = &a->on[STREAMS - 1 - s];
        if (first->last >= 0 && (same->last >= first->first || other->last > first->known)) return false;
    }
    return true;
}

static bool alive_together(const step_buffer *a, const step_buffer *b)
{
    for (int mode = 0; mode < PASSES; mode++)
        if (!ends_before(&a->life[mode], &b->life[mode]) && !ends_before(&b->life[mode], &a->life[mode])) return true;
    return false;
}

/* ---- Places ---- */

/* A buffer to be placed. */
typedef struct item {
    step_buffer *buffer;
    size_t at;
} item;

static bool is_used(const step_buffer *b) { return b->life[TRAIN].last >= 0 || b->life[TEST].last >= 0; }
static int first_use(const step_buffer *b)
{
    return b->life[TRAIN].last >= 0 ? b->life[TRAIN].first : b->life[TEST].first;
}

static int by_bytes(const void *a, const void *b)
{
    const step_buffer *x = ((const item *)a)->buffer, *y = ((const item *)b)->buffer;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return (x > y) - (x < y);
}

static int by_use(const void *a, const void *b)
{
    const step_buffer *x = ((const item *)a)->buffer, *y = ((const item *)b)->buffer;
    return first_use(x) != first_use(y) ? first_use(x) - first_use(y) : by_bytes(a, b);
}

static int by_place(const void *a, const void *b)
{
    const size_t x = (*(item *const *)a)->at, y = (*(item *const *)b)->at;
    return (x > y) - (x < y);
}

/* The lowest gap between those of the placed items that are alive with this one; `others` has room for all. */
static size_t lowest_gap(const item *items, int placed, const step_buffer *b, const item **others)
{
    int count = 0;
    size_t at = 0;
    for (int i = 0; i < placed; i++)
        if (alive_together(items[i].buffer, b)) others[count++] = &items[i];
    qsort(others, (size_t)count, sizeof *others, by_place);
    for (int i = 0; i < count; i++) {
        if (at + step_rounded(b->bytes) <= others[i]->at) return at;
        const size_t end = others[i]->at + step_rounded(others[i]->buffer->bytes);
        if (end > at) at = end;
    }
    return at;
}

/* In the order that `compare` says: what all take together; SIZE_MAX where that cannot be addressed. */
static size_t place(item *items, int count, int (*compare)(const void *, const void *), const item **others)
{
    size_t most = 0;
    qsort(items, (size_t)count, sizeof *items, compare);
    for (int i = 0; i < count; i++) {
        items[i].at = lowest_gap(items, i, items[i].buffer, others);
        const size_t end = items[i].at + step_rounded(items[i].buffer->bytes);
        if (end > SIZE_MAX / 4) return SIZE_MAX;
        if (end > most) most = end;
    }
    return most;
}

/* train: in place of the lists of training; NULL: those that there are. */
static cnn_status find_lives(cnn_trainer *t, const call_list *train, cnn_error *err)
{
    step_life *lives = calloc((size_t)t->n_buffers + 1, sizeof *lives);
    if (lives == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to plan memory");
    for (int b = 0; b < t->n_buffers; b++)
        for (int mode = 0; mode < PASSES; mode++) t->buffers[b].life[mode] = unused;
    for (int i = 0; i < t->n_batches; i++) /* lists of one mode have the same calls, whatever the batch size */
        for (int mode = 0; mode < PASSES; mode++) {
            const call_list *list = &t->batches[0][i].calls[mode];
            if (list->count == 0) continue;
            step_lives(t, mode == TRAIN && train != NULL ? train : list, lives);
            for (int b = 0; b < t->n_buffers; b++) t->buffers[b].life[mode] = lives[b];
        }
    free(lives);
    return CNN_OK;
}

/* All buffers that are used, with places from 0 on, and what they take together; items has room for all. */
static cnn_status place_all(cnn_trainer *t, const call_list *train, item *items, int *count, size_t *bytes,
                            cnn_error *err)
{
    const item **others = calloc((size_t)t->n_buffers + 1, sizeof *others);
    cnn_status status =
        others != NULL ? find_lives(t, train, err) : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to plan memory");
    *count = 0;
    *bytes = 0;
    for (int b = 0; b < t->n_buffers && status == CNN_OK; b++) {
        if (!is_used(&t->buffers[b])) continue;
        items[(*count)++].buffer = &t->buffers[b];
        if (t->buffers[b].bytes > SIZE_MAX / 4) t->loop->overflow = true;
    }
    if (status == CNN_OK && !t->loop->overflow) {
        const size_t first = place(items, *count, by_use, others);
        *bytes = place(items, *count, by_bytes, others);
        if (first < *bytes) *bytes = place(items, *count, by_use, others);
        if (*bytes > SIZE_MAX / 4) t->loop->overflow = true;
    }
    free(others);
    return status;
}

cnn_status step_placed(cnn_trainer *t, const call_list *train, size_t *bytes, cnn_error *err)
{
    item *items = calloc((size_t)t->n_buffers + 1, sizeof *items);
    int count = 0;
    const cnn_status status = items != NULL ? place_all(t, train, items, &count, bytes, err)
                                            : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to plan memory");
    free(items);
    return status;
}

cnn_status step_share(cnn_trainer *t, cnn_error *err)
{
    trainer_bytes *bytes = &t->loop->bytes;
    item *items = calloc((size_t)t->n_buffers + 1, sizeof *items);
    int count = 0;
    size_t all = 0;
    const cnn_status status = items != NULL ? place_all(t, NULL, items, &count, &all, err)
                                            : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to plan memory");
    if (status == CNN_OK) {
        const bool placed = !t->loop->overflow && all > 0;
        const size_t at = placed ? trainer_place(t->loop, &bytes->values, (int64_t)all, 1) : 0;
        for (int i = 0; i < count; i++) items[i].buffer->at = at + items[i].at;
        for (int i = 0; i < count; i++) bytes->apart += step_rounded(items[i].buffer->bytes);
    }
    free(items);
    return status;
}
