/* results.c: a panel's sums on their way to y: with the bias, as they are or quantized, in either layout.
 *
 * The sums of many tiles are put at once, so that rows of NCHW are whole vectors of pixels. */
#include "pairs.h"

#include <string.h>

static void add_bias(const pairs_results *r)
{
    const int width = r->kernel->channels;
    const int32_t *bias = (const int32_t *)r->a->b + r->channel;
    for (int64_t i = 0; i < r->count; i++)
        for (int64_t k = 0; k < r->channels; k++)
            r->sums[i * width + k] = whole_result(r->sums[i * width + k], &bias[k], 0.0, NULL);
}

/* Where the results of a pixel of the batch begin in y, and in z, in elements; and how many of the rows from row i on
 * are of one image. */
static int64_t place(const pairs_results *r, int64_t pixel)
{
    const int64_t plane = r->d->oh * r->d->ow;
    return cnn_offset(r->d->t.layout, r->d->oc, 1, plane, pixel / plane, r->channel, 0, pixel % plane);
}
static int64_t rows_of_image(const pairs_results *r, int64_t i)
{
    const int64_t plane = r->d->oh * r->d->ow;
    return cpu_min(r->count - i, plane - (r->first + i) % plane);
}

/* The residual of all rows, beside each other as the sums are. */
static void gather_residual(const pairs_results *r, uint8_t *to)
{
    const int64_t plane = r->d->oh * r->d->ow, width = r->kernel->channels;
    const uint8_t *z = r->a->z;
    int64_t rows;
    for (int64_t i = 0; i < r->count; i += rows) {
        const uint8_t *from = z + place(r, r->first + i);
        uint8_t *row = to + i * width;
        rows = rows_of_image(r, i);
        if (r->d->t.layout == CNN_NHWC)
            for (int64_t k = 0; k < rows; k++) memcpy(row + k * width, from + k * r->d->oc, (size_t)r->channels);
        else
            r->kernel->rows_bytes(&(pairs_planes){from, row, width, rows, r->channels, plane});
    }
}

static void quantize(const pairs_results *r, uint8_t *to, int64_t pitch)
{
    int32_t bias[PAIRS_CHANNELS_MOST] = {0};
    float scale[PAIRS_CHANNELS_MOST] = {0};
    uint8_t z[PAIRS_ROWS * PAIRS_CHANNELS_MOST];
    for (int64_t k = 0; k < r->channels; k++) {
        scale[k] = r->q->scale[(r->channel + k) * r->q->step];
        if (r->a->b != NULL) bias[k] = ((const int32_t *)r->a->b)[r->channel + k];
    }
    if (r->q->add) gather_residual(r, z);
    r->kernel->quantize(&(pairs_bytes){
        .q = r->q, .sums = r->sums, .bias = bias, .scale = scale, .z = z, .rows = r->count, .to = to, .pitch = pitch});
}

/* Rows of pixels that follow each other in an image, [rows][width], of elements of `size` bytes. */
typedef struct piece {
    const void *from;
    int64_t width, rows;
    size_t size;
} piece;

static void put_added(const pairs_results *r, const piece *p, int32_t *to, int64_t pixel, int64_t channel)
{
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t k = 0; k < r->channels; k++) {
            int32_t *y = to + i * pixel + k * channel;
            *y = whole_result(((const int32_t *)p->from)[i * p->width + k], NULL, r->a->beta, y);
        }
}

static void put_rows(const pairs_results *r, const piece *p, char *to)
{
    const char *from = p->from;
    const size_t row = (size_t)r->d->oc * p->size, width = (size_t)p->width * p->size;
    const size_t bytes = (size_t)r->channels * p->size;
    for (int64_t i = 0; i < p->rows; i++, to += row, from += width) memcpy(to, from, bytes);
}

static void put(const pairs_results *r, const piece *p, int64_t pixel)
{
    const cnn_conv_desc *d = r->d;
    const int64_t plane = d->oh * d->ow;
    const bool nhwc = d->t.layout == CNN_NHWC;
    char *to = (char *)r->a->y + place(r, pixel) * (int64_t)p->size;
    const pairs_planes planes = {p->from, to, p->width, p->rows, r->channels, plane};
    if (r->a->beta != 0.0)
        put_added(r, p, (int32_t *)(void *)to, nhwc ? d->oc : 1, nhwc ? 1 : plane);
    else if (nhwc)
        put_rows(r, p, to);
    else if (p->size == 1)
        r->kernel->planes_bytes(&planes);
    else
        r->kernel->planes_s32(&planes);
}

void pairs_put(const pairs_results *r)
{
    uint8_t bytes[PAIRS_ROWS * PAIRS_CHANNELS_MOST];
    piece p = {r->sums, r->kernel->channels, 0, sizeof *r->sums};
    if (r->q->any && r->d->t.layout == CNN_NHWC && r->channels == r->kernel->channels) { /* where they belong */
        quantize(r, (uint8_t *)r->a->y + place(r, r->first), r->d->oc);
        return;
    }
    if (r->q->any) {
        quantize(r, bytes, r->kernel->channels);
        p = (piece){bytes, r->kernel->channels, 0, sizeof *bytes};
    } else if (r->a->b != NULL)
        add_bias(r);
    const char *from = p.from;
    for (int64_t i = 0; i < r->count; i += p.rows) {
        p.rows = rows_of_image(r, i);
        p.from = from + i * p.width * (int64_t)p.size;
        put(r, &p, r->first + i);
    }
}
