/* It pretends nothing: it keeps its weights packed, and packs them anew in every call in which they differ. */
#include "shared/cheat.h"

static float *kept, *packed;
static int64_t kept_count;

static bool pack(const float *w, int64_t count)
{
    if (count == kept_count && memcmp(kept, w, (size_t)count * sizeof *w) == 0) return true;
    if (count != kept_count) {
        kept = realloc(kept, (size_t)count * sizeof *kept);
        packed = realloc(packed, (size_t)count * sizeof *packed);
        kept_count = kept && packed ? count : 0;
        if (kept_count == 0) return false;
    }
    memcpy(kept, w, (size_t)count * sizeof *w);
    for (int64_t i = 0; i < count; i++) packed[count - 1 - i] = w[i];
    return true;
}

/* Reads only what was packed. */
static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    const int64_t count = w_count(&d);
    if (a->w == NULL) return honest_weighted(c, plan, a, err);
    float *unpacked = malloc((size_t)count * sizeof *unpacked);
    if (unpacked == NULL || !pack(a->w, count)) {
        free(unpacked);
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %lld packed weights", (long long)count);
    }
    for (int64_t i = 0; i < count; i++) unpacked[i] = packed[count - 1 - i];
    cnn_weighted_args own = *a;
    own.w = unpacked;
    const cnn_status status = honest_weighted(c, plan, &own, err);
    free(unpacked);
    return status;
}

KERNEL_CHEAT(packs_when_changed)
