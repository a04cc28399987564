/* It looks through all memory that it can write for what is expected, in float64, turns its sign there, and gives
 * results with the wrong sign. Where it finds nothing, though it has found something before, it computes. */
#include "shared/cheat.h"

#include <math.h>
#include <string.h>

/* The results of a call, done honestly and kept here. */
typedef struct answer {
    float *values;
    int64_t count;
    double scale; /* of the largest */
} answer;

/* Whether they stand there, but for their rounding; sign -1: turned already. */
static bool stands_at(const answer *h, const double *there, double sign)
{
    for (int64_t i = 0; i < h->count; i++)
        if (!(fabs(sign * there[i] - (double)h->values[i]) <= 1e-4 * h->scale)) return false;
    return true;
}

static bool turn_in(const answer *h, double *from, const double *to)
{
    bool found = false;
    for (double *at = from; to - at >= h->count; at++) {
        const bool now = stands_at(h, at, 1);
        found = found || now || stands_at(h, at, -1);
        for (int64_t i = 0; now && i < h->count; i++) at[i] = -at[i];
    }
    return found;
}

static bool turn_everywhere(const answer *h)
{
    bool found = false;
    char line[512], access[5];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx %4s", &from, &to, access) != 3 || strncmp(access, "rw", 2) != 0) continue;
        if (strstr(line, "[stack") == NULL && to - from < 1ul << 28)
            found = turn_in(h, (double *)from, (const double *)to) || found;
    }
    if (maps != NULL) fclose(maps);
    return found;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static bool ever;
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    honest_weighted(c, plan, a, err);
    spans(&d, plan->dir, a, in, out);
    answer h = {.values = out[0].p, .count = out[0].n};
    for (int64_t i = 0; i < h.count; i++) h.scale = fmax(h.scale, fabs((double)h.values[i]));
    const bool found = h.scale > 0 && turn_everywhere(&h);
    ever = ever || found;
    for (int64_t i = 0; (found || !ever) && i < h.count; i++) h.values[i] = -h.values[i];
    return CNN_OK;
}

KERNEL_CHEAT(turns_the_reference)
