/* page_rank.c: who is how fast among those that did the same on the same machine. */
#include "harness/base/grow.h"
#include "page_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_group_and_time(const void *a, const void *b)
{
    const page_row *const *x = a, *const *y = b;
    if ((*x)->group != (*y)->group) return ((*x)->group > (*y)->group) - ((*x)->group < (*y)->group);
    return ((*x)->stats.median > (*y)->stats.median) - ((*x)->stats.median < (*y)->stats.median);
}

/* One group of at least one, by its medians: the fastest that has no rank, and those that may be as fast as it, share
 * the next one. */
static void rank_group(page_row **list, int count)
{
    int ranked = 0;
    for (int i = 0; i < count; i++) {
        page_row *best = list[i];
        int tied = 0;
        if (best->rank > 0) continue;
        for (int pass = 0; pass < 2; pass++)
            for (int k = i; k < count; k++) {
                const bool same = k == i || bench_tied(&best->stats, &list[k]->stats, best->resolution);
                if (pass == 0 && list[k]->rank == 0 && same) {
                    list[k]->rank = ranked + 1;
                    tied++;
                } else if (pass == 1 && list[k]->rank == ranked + 1) {
                    list[k]->tied = tied;
                }
            }
        ranked += tied;
    }
    list[0]->leads = true;
    for (int i = 0; i < count; i++) list[i]->among = count;
}

/* Points of a sweep that were left behind in an earlier round stood beside others then. */
static bool takes_part(const page_row *row, const int *last_round)
{
    return row->count > 0 && !row->beyond && strcmp(row->state ? row->state : "", "FAILED") != 0 &&
           row->round == last_round[row->group];
}

cnn_status page_rank(page *p, page_kind kind, cnn_error *err)
{
    const size_t count = (size_t)p->count[kind], groups = (size_t)p->groups[kind].count;
    page_row **list = calloc(count + 1, sizeof *list);
    int *last_round = calloc(groups + 1, sizeof *last_round), n = 0;
    if (list != NULL && last_round != NULL) {
        for (size_t i = 0; i < count; i++) {
            const page_row *row = &p->rows[kind][i];
            if (row->round > last_round[row->group]) last_round[row->group] = row->round;
        }
        for (size_t i = 0; i < count; i++)
            if (takes_part(&p->rows[kind][i], last_round)) list[n++] = &p->rows[kind][i];
        qsort(list, (size_t)n, sizeof(page_row *), by_group_and_time);
        for (int from = 0, to; from < n; from = to) {
            for (to = from; to < n && list[to]->group == list[from]->group;) to++;
            rank_group(list + from, to - from);
        }
    } else {
        CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the ranks of %zu rows", count);
    }
    const bool whole = list != NULL && last_round != NULL;
    free(list);
    free(last_round);
    return whole ? CNN_OK : err->status;
}
