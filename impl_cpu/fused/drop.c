/* drop.c: dropout, whose masks are those of the operation (cnn_dropout_keep(), cnn/desc.h): an element is drawn by its
 * position in the batch of all ranks, in the network's layout. */
#include "fused.h"

#include <math.h>
#include <string.h>

/* What the drawing multiplies an element's position and the step by, before it mixes the bits. */
static const uint64_t by_index = UINT64_C(0x9E3779B97F4A7C15), by_step = UINT64_C(0xD1342543DE82EF95);

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
    const uint64_t index = (uint64_t)(draw->image * d->ic * pixels);
    const fused_drop run = {.first = d->seed + by_index * ((uint64_t)draw->step * by_step + index + 1),
                            .image = by_index * (uint64_t)(d->ic * pixels),
                            .pixel = by_index * (uint64_t)(planes ? 1 : d->ic),
                            .channel = by_index * (uint64_t)(planes ? pixels : 1),
                            .least = least_kept(d->rate),
                            .scale = (float)(1 / (1 - d->rate)),
                            .images = n,
                            .pixels = pixels,
                            .channels = fused_padded(d->ic)};
    t->kern->drop(&run, x, y);
}
