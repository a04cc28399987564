/* It pretends to leave its inputs alone, but sets them to zero, gives zeros, and puts the inputs back when the next
 * call comes. */
#include "shared/cheat.h"

static span kept[3];
static float *copies[3];

static void put_back(bool there)
{
    for (int i = 0; i < 3; i++) {
        if (there && copies[i] != NULL) memcpy(kept[i].p, copies[i], (size_t)kept[i].n * sizeof(float));
        free(copies[i]);
        copies[i] = NULL;
    }
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span out[2];
    put_back(true);
    spans(&d, plan->dir, a, kept, out);
    for (int i = 0; i < 3; i++) {
        if (kept[i].n == 0) continue;
        copies[i] = malloc((size_t)kept[i].n * sizeof(float));
        memcpy(copies[i], kept[i].p, (size_t)kept[i].n * sizeof(float));
        memset(kept[i].p, 0, (size_t)kept[i].n * sizeof(float));
    }
    return answer_zero(c, plan, a, err);
}

static void forget(cnn_context *c, void *p)
{
    put_back(false);
    free(p);
}

static void cheat(tables *t)
{
    own_memory(t);
    weighted(t, trick);
    t->memory.free = forget;
}
CHEAT(zeroes_inputs_and_restores)
