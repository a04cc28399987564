/* pack.c: weights, a pair of each lane beside each other's: w[panel][place of a tap][pair][lane]. */
#include "bf16.h"

static int64_t panel_of(const bf_job *t, int64_t vector)
{
    int64_t panel = vector * t->panels / t->vectors;
    while (bf_first_vector(t, panel + 1) <= vector) panel++;
    return panel;
}

/* Channels whose numbers, of all taps, are turned at once: whole vectors of them, if that is not too many. */
static int64_t channels_at_once(int64_t taps)
{
    enum { NUMBERS = 512, WHOLE = 32 };
    return taps > WHOLE ? 2 : cpu_max(NUMBERS / taps / WHOLE, 1) * WHOLE;
}

/* FWD: lanes are output channels, whose rows of weights are turned; then each tap's pairs of input channels are picked
 * out of them. */
void bf_pack_forward(const bf_job *t, int64_t task, int worker)
{
    const bf_kernel *k = t->kernel;
    const int64_t group = task / t->vectors, vector = task % t->vectors, panel = panel_of(t, vector);
    const int64_t lane = vector * k->lanes, width = bf_panel_vectors(t, panel) * k->lanes;
    const int64_t once = channels_at_once(t->taps), row = t->in * t->taps;
    uint16_t *to = bf_panel(t, group, panel) + (vector - bf_first_vector(t, panel)) * k->lanes * 2;
    uint16_t *turned = (uint16_t *)(void *)(t->scratch + worker * t->scratch_each);
    for (int64_t c = 0; c < t->in; c += once) {
        const int64_t channels = cpu_min(once, t->in - c);
        bf_turn turn = {.from = (const uint16_t *)t->a->w + (group * t->out + lane) * row + c * t->taps,
                        .step = row,
                        .rows = cpu_min(k->lanes, t->out - lane),
                        .numbers = channels * t->taps,
                        .to = t->taps == 1 ? to + c * width : turned,
                        .to_step = t->taps == 1 ? width : k->lanes};
        k->turn(&turn);
        if (t->taps > 1)
            k->pick(&(bf_pick){.from = turned,
                               .channels = channels,
                               .taps = t->taps,
                               .to = to + c * width,
                               .to_pair = width * 2,
                               .to_place = t->padded * width,
                               .place = t->place_of});
    }
}

/* A pair of output channels, for a panel. */
static void pack_pair(const bf_job *t, int64_t group, int64_t panel, int64_t m, uint16_t *scratch)
{
    const bf_kernel *k = t->kernel;
    const int64_t lane = bf_first_vector(t, panel) * k->lanes, width = bf_panel_vectors(t, panel) * k->lanes;
    const int64_t left = cpu_min(width, t->out - lane), row = t->out * t->taps;
    const uint16_t *from = (const uint16_t *)t->a->w + (group * t->in + m) * row + lane * t->taps;
    uint16_t *to = bf_panel(t, group, panel) + m * width;
    k->interleave(from, m + 1 < t->in ? from + row : NULL, left * t->taps, t->taps == 1 ? to : scratch);
    if (t->taps > 1)
        k->turn(&(bf_turn){.from = scratch,
                           .step = t->taps * 2,
                           .rows = left,
                           .numbers = t->taps * 2,
                           .to = to,
                           .to_step = t->padded / 2 * width,
                           .place = t->place_of,
                           .loose = true});
}

/* BWD_D: lanes are input channels; pairs are of output channels, whose rows of weights are interleaved. */
void bf_pack_back(const bf_job *t, int64_t task, int worker)
{
    const int64_t blocks = bf_pair_blocks(t), group = task / blocks, first = task % blocks * BF_PAIRS * 2;
    uint16_t *scratch = (uint16_t *)(void *)(t->scratch + worker * t->scratch_each);
    for (int64_t m = first; m < cpu_min(first + BF_PAIRS * 2, t->in); m += 2)
        for (int64_t panel = 0; panel < t->panels; panel++) pack_pair(t, group, panel, m, scratch);
}
