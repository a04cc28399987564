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

static void draw(const trainer *t, int64_t epoch, int32_t *order, cnn_shift *shifts)
{
    const int64_t count = trainer_part(t, TRAIN)->count;
    trainer_order(t->params.seed, epoch, count, order);
    if (shifts != NULL) trainer_shifts(t->params.seed, epoch, count, t->params.shift, shifts);
}

static void take_drawn(trainer *t)
{
    int32_t *const order = t->order[TRAIN];
    cnn_shift *const shifts = t->shifts;
    t->order[TRAIN] = t->next_order;
    t->shifts = t->next_shifts;
    t->next_order = order;
    t->next_shifts = shifts;
    t->drawn = -1;
}

void trainer_draw_pass(trainer *t, int set, int64_t epoch)
{
    const int64_t count = trainer_part(t, set)->count;
    for (int64_t i = 0; i < count && set == TEST; i++) t->order[set][i] = (int32_t)i;
    if (set == TRAIN && t->drawn >= 0 && t->drawn == epoch)
        take_drawn(t);
    else if (set == TRAIN)
        draw(t, epoch, t->order[TRAIN], t->shifts);
    trainer_share_order(t, set);
}

void trainer_draw_ahead(trainer *t, int64_t epoch)
{
    if (t->session->impl->sync == NULL) return; /* the processors that would draw it train */
    draw(t, epoch, t->next_order, t->next_shifts);
    t->drawn = epoch;
}
