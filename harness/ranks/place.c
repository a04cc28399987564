/* place.c: the cores of a host, shared out among its ranks. A launcher that binds ranks to cores of their own is left
 * its way: each finds itself alone on these. */
#include "ranks.h"

#include "harness/cpu/threads.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

typedef struct place {
    int node;
    cpu_set_t cores; /* that it may run on */
} place;

/* How many ranks share these cores, and which of them this is. */
static cnn_status find_sharers(ranks *r, const place *mine, int *sharers, int *which, cnn_error *err)
{
    place *all = calloc((size_t)r->size, sizeof *all);
    *sharers = *which = 0;
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d ranks", r->size);
    const cnn_status status = ranks_gather(r, mine, sizeof *mine, all, err);
    for (int i = 0; i < r->size && status == CNN_OK; i++) {
        if (all[i].node != mine->node || !CPU_EQUAL(&all[i].cores, &mine->cores)) continue;
        *which += i < r->rank;
        ++*sharers;
    }
    free(all);
    return status;
}

/* The cores numbered [first, first + count) among those of the set. */
static void narrow(cpu_set_t *set, int first, int count)
{
    int seen = 0;
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, set)) continue;
        if (seen < first || seen >= first + count) CPU_CLR(core, set);
        seen++;
    }
}

cnn_status ranks_place(ranks *r, int threads, int *result, cnn_error *err)
{
    place mine;
    int sharers, which;
    *result = threads > 0 ? threads : cpu_count();
    if (r == NULL) return CNN_OK;
    memset(&mine, 0, sizeof mine); /* padding, too, is sent */
    mine.node = r->node;
    if (sched_getaffinity(0, sizeof mine.cores, &mine.cores) != 0) CPU_ZERO(&mine.cores);
    const cnn_status status = find_sharers(r, &mine, &sharers, &which, err);
    if (status != CNN_OK || sharers <= 1) return status;
    const int each = cpu_count() / sharers, wanted = threads > 0 ? threads : each > 0 ? each : 1;
    *result = wanted;
    if (wanted > each || CPU_COUNT(&mine.cores) < sharers * wanted) return CNN_OK;
    narrow(&mine.cores, which * wanted, wanted);
    (void)sched_setaffinity(0, sizeof mine.cores, &mine.cores); /* where it is not allowed, they share */
    return CNN_OK;
}

cnn_status ranks_share_cores(ranks *r, int first, int *a, int *b, cnn_error *err)
{
    place mine, *all = calloc((size_t)r->size, sizeof *all);
    *a = *b = -1;
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d ranks", r->size);
    memset(&mine, 0, sizeof mine);
    mine.node = r->node;
    if (sched_getaffinity(0, sizeof mine.cores, &mine.cores) != 0) CPU_ZERO(&mine.cores);
    const cnn_status status = ranks_gather(r, &mine, sizeof mine, all, err);
    for (int i = first; i < r->size && status == CNN_OK && *a < 0; i++)
        for (int k = i + 1; k < r->size && *a < 0; k++) {
            cpu_set_t common;
            CPU_AND(&common, &all[i].cores, &all[k].cores);
            if (all[i].node == all[k].node && CPU_COUNT(&common) > 0) *a = i, *b = k;
        }
    free(all);
    return status;
}
