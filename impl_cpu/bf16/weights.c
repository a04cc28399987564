/* weights.c: BWD_W: some images after the others; their sums are added in this order, whatever the threads. */
#include "bf16.h"
#include "harness/cpu/half.h"

typedef struct turn_of {
    const bf_job *t;
    int64_t first; /* image */
} turn_of;

static void columns_task(void *arg, int64_t task, int worker)
{
    const turn_of *r = arg;
    (void)worker;
    bf_columns(r->t, r->first, task);
}

static void dy_task(void *arg, int64_t task, int worker)
{
    const turn_of *r = arg;
    (void)worker;
    bf_pack_dy(r->t, r->first, task);
}

/* Taps in the order of memory, and rows of results, whose pixels are pairs. */
static void list_places(const bf_job *t)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t row = t->parts * t->length;
    for (int64_t m = 0; m < t->taps; m++) {
        const int64_t tap = d->flip ? t->taps - 1 - m : m, right = tap % d->kw * (d->dw + 1);
        t->tap_at[m] = tap / d->kw * (d->dh + 1) * row + right % d->sw * t->length + right / d->sw;
    }
    for (int64_t i = 0; i < t->images * d->oh; i++)
        t->list[i] = t->paired ? i * 2 * t->pairs * d->ic : (i / d->oh * d->ic * t->height + i % d->oh * d->sh) * row;
    if (t->paired) t->tap_at[0] = 0;
}

/* Images from `first` on. */
static void run_images(const cpu_context *cpu, bf_job *t, int64_t first)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t images = cpu_min(t->images, d->mb - first), icg = d->ic / d->g,
                  plane = t->paired ? 2 : t->height * t->parts * t->length; /* of a channel */
    turn_of all = {t, first};
    bf_region s = {.t = t,
                   .images = icg,
                   .cols = t->taps,
                   .bands = {{.plane = t->taps, .count = images * d->oh}},
                   .n_bands = 1,
                   .from = t->copied ? t->copy : (const uint16_t *)t->a->x + first * d->ic * plane,
                   .group = icg * plane,
                   .image = plane,
                   .right = t->tap_at,
                   .list = t->list,
                   .pairs = t->pairs,
                   .step = t->paired ? 2 * d->ic : 2,
                   .place = {.image = t->taps, .right = 1, .channel = icg * t->taps},
                   .place_group = t->out * icg * t->taps,
                   .to = t->a->dw,
                   .add = first > 0,
                   .keep = first + images < d->mb};
    parallel_for(cpu->pool, bf_columns_tasks(t, images), columns_task, &all);
    cpu_phase(cpu, "copy");
    parallel_for(cpu->pool, images * d->oh * cpu_ceil_div(d->ow, BF_BLOCK), dy_task, &all);
    cpu_phase(cpu, "gradients");
    bf_multiply(cpu, &s);
    cpu_phase(cpu, "multiply");
}

/* ---- db. */

/* Task: some channels, whose sums are f64, over all pixels in order. */
enum { CHANNELS = 16 };

static void bias_task(void *arg, int64_t task, int worker)
{
    const bf_job *t = arg;
    const cnn_conv_desc *d = &t->d;
    const int64_t first = task * CHANNELS, channels = cpu_min(CHANNELS, d->oc - first), plane = d->oh * d->ow;
    const bool nhwc = d->t.layout == CNN_NHWC;
    const int64_t pixel = nhwc ? d->oc : 1, channel = nhwc ? 1 : plane;
    const cnn_dtype result = cnn_part_dtype(d->t.dtype, CNN_PART_RESULT);
    double sums[CHANNELS] = {0};
    (void)worker;
    for (int64_t n = 0; n < d->mb; n++) {
        const uint16_t *dy = (const uint16_t *)t->a->dy + n * d->oc * plane + first * channel;
        const bool wide = nhwc && CHANNELS % t->kernel->lanes == 0 && channels == CHANNELS;
        for (int64_t k = 0; wide && k < channels; k += t->kernel->lanes)
            t->kernel->add_up(dy + k, d->oc, plane, sums + k);
        for (int64_t q = 0; nhwc && !wide && q < plane; q++)
            for (int64_t k = 0; k < channels; k++) sums[k] += (double)half_bf16_to_float(dy[q * pixel + k]);
        for (int64_t k = 0; !nhwc && k < channels; k++)
            for (int64_t q = 0; q < plane; q++) sums[k] += (double)half_bf16_to_float(dy[k * channel + q]);
    }
    for (int64_t k = 0; k < channels; k++) {
        float *wide = (float *)t->a->db + first + k;
        uint16_t *narrow = (uint16_t *)t->a->db + first + k;
        const double old = t->a->beta == 0     ? 0
                           : result == CNN_F32 ? (double)*wide
                                               : (double)half_bf16_to_float(*narrow);
        const float sum = (float)(sums[k] + t->a->beta * old);
        if (result == CNN_F32)
            *wide = sum;
        else
            *narrow = half_float_to_bf16(sum);
    }
}

void bf_weights(const cpu_context *cpu, bf_job *t)
{
    list_places(t);
    for (int64_t first = 0; first < t->d.mb; first += t->images) run_images(cpu, t, first);
    if (t->a->db == NULL) return;
    parallel_for(cpu->pool, cpu_ceil_div(t->d.oc, CHANNELS), bias_task, t);
    cpu_phase(cpu, "bias");
}
