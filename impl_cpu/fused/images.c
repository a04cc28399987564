/* images.c: a worker's images, from the data set to value 0 of the network. */
#include "fused.h"

#include "harness/cpu/gather.h"

static int64_t row_elems(const cnn_trainer *t)
{
    const cnn_value *x = &t->net->values[0];
    return x->c * x->h * x->w;
}

/* Where image `at` of the pass stands among all. */
static int64_t place_of(const cnn_images *images, int64_t at) { return images->order != NULL ? images->order[at] : at; }

/* Image `at` of the pass: where it stands in the data set, or, moved, the worker's picture. */
static const float *picture(const cnn_trainer *t, fused_worker *w, const cnn_images *images, int64_t at)
{
    const cnn_value *x = &t->net->values[0];
    const bool planes = t->net->type.layout == CNN_NCHW;
    const int64_t row = row_elems(t);
    const float *stands = (const float *)images->rows + place_of(images, at) * row;
    const int32_t none = 0;
    if (images->shifts == NULL || (images->shifts[at].dy == 0 && images->shifts[at].dx == 0)) return stands;
    const cnn_gather_args args = {.dtype = CNN_F32,
                                  .count = 1,
                                  .row_elems = row,
                                  .rows = stands,
                                  .index = &none,
                                  .y = w->picture,
                                  .shifts = images->shifts + at,
                                  .planes = planes ? x->c : 1,
                                  .h = x->h,
                                  .w = x->w,
                                  .pixel_elems = planes ? 1 : x->c};
    cnn_gather_row(&args, 0);
    return w->picture;
}

void fused_images_take(const cnn_trainer *t, fused_worker *w, const cnn_images *images, int64_t first, int64_t n,
                       int64_t next)
{
    for (int64_t i = 0; i < n; i++) {
        w->labels[i] = images->labels[place_of(images, first + i)];
        t->kern->order(&t->spread, picture(t, w, images, first + i), w->value[0] + i * t->spread_elems);
    }
    w->images = images;
    w->next = next;
    w->next_end = cpu_min(next + n, images->count);
}

void fused_image_fetch(const cnn_trainer *t, fused_worker *w)
{
    enum { MOST = 4096, LINE = FUSED_LINE / sizeof(float) }; /* numbers of an image */
    const int64_t row = row_elems(t);
    if (w->next >= w->next_end || row > MOST) return;
    const float *x = (const float *)w->images->rows + place_of(w->images, w->next++) * row;
    for (int64_t at = 0; at < row; at += LINE) __builtin_prefetch(x + at, 0, 2);
}
