/* order.c: the order in which a pass takes its images, and how they are moved; both from the seed and the epoch alone.
 */
#include "harness/base/rng.h"
#include "trainer_parts.h"

void trainer_order(uint64_t seed, int64_t epoch, int64_t count, int32_t *order)
{
    cnn_rng rng = rng_stream(seed, (uint64_t)epoch);
    for (int64_t i = 0; i < count; i++) order[i] = (int32_t)i;
    for (int64_t i = count - 1; i > 0; i--) { /* Fisher and Yates */
        const int64_t j = rng_int(&rng, 0, i);
        const int32_t other = order[j];
        order[j] = order[i];
        order[i] = other;
    }
}

void trainer_shifts(uint64_t seed, int64_t epoch, int64_t count, int64_t most, cnn_shift *shifts)
{
    cnn_rng rng = rng_stream(~seed, (uint64_t)epoch); /* not the order's numbers once more */
    for (int64_t i = 0; i < count; i++) {
        shifts[i].dy = (int16_t)rng_int(&rng, -most, most);
        shifts[i].dx = (int16_t)rng_int(&rng, -most, most);
    }
}

void trainer_draw_pass(trainer *t, int set, int64_t epoch)
{
    const int64_t count = trainer_part(t, set)->count;
    if (set == TEST) {
        for (int64_t i = 0; i < count; i++) t->order[set][i] = (int32_t)i;
    } else {
        trainer_order(t->params.seed, epoch, count, t->order[set]);
        if (t->shifts != NULL) trainer_shifts(t->params.seed, epoch, count, t->params.shift, t->shifts);
    }
    trainer_share_order(t, set);
}
