/* drop.c: dropout, whose masks are those of the operation (cnn_dropout_keep(), cnn/desc.h): an element is drawn by its
 * position in the batch of all ranks, in the network's layout. */
#include "fused.h"

#include <math.h>
#include <string.h>

/* By how much what is drawn from changes over so many elements, modulo 2^64. */
static uint64_t over(int64_t elements) { return cnn_dropout_seed_from(0, elements); }

/* Numbers of 53 bits below this are less than the rate in units of 2^-53: a power of two, so nothing is rounded. */
static int64_t least_kept(double rate) { return (int64_t)ceil(rate * 9007199254740992.0); }

void fused_drop_run(const cnn_trainer *t, const fused_worker *w, const fused_layer *layer, cnn_dir dir, int64_t n)
{
    const cnn_dropout_desc *d = &layer->problem->u.dropout;
    const fused_draw *draw = &w->draw;
    const bool back = dir == CNN_BWD_D, planes = t->net->type.layout == CNN_NCHW;
    const int64_t pixels = d->ih * d->iw, elems = t->elems[layer->in];
    const float *x = back ? w->grad[layer->out] : w->value[layer->in];
    float *y = back ? w->grad[layer->in] : w->value[layer->out];
    if (draw->inference) {
        memcpy(y, x, (size_t)(n * elems) * sizeof *y);
        return;
    }
    const int64_t index = draw->image * d->ic * pixels + 1;
    const uint64_t step = (uint64_t)draw->step * UINT64_C(0xD1342543DE82EF95); /* in elements, as cnn_dropout_keep() */
    const fused_drop run = {.first = d->seed + over((int64_t)(step + (uint64_t)index)),
                            .image = over(d->ic * pixels),
                            .pixel = over(planes ? 1 : d->ic),
                            .channel = over(planes ? pixels : 1),
                            .least = least_kept(d->rate),
                            .scale = (float)(1 / (1 - d->rate)),
                            .images = n,
                            .pixels = pixels,
                            .channels = fused_padded(d->ic)};
    t->kern->drop(&run, x, y);
}
