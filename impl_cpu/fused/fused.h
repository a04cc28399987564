/* fused.h: the trainer cpu:fused: chains of convolution, activation, pooling and FC in f32, with a loss at the end.
 *
 * Every value of the network stands in the layout of the direct convolution, [block][channel][h][w][lane], where a
 * block is `lanes` images (direct/direct.h): images are brought into it once, when a batch is gathered, and nothing is
 * transposed between layers. Seen so,
 * - an activation is one over more pixels;
 * - pooling is that of `blocks * channels` images of `lanes` channels, NHWC;
 * - FC is a convolution whose kernel is as large as the image: its weights stand in that order already.
 * Lanes without an image hold whatever comes of zeros; their gradients are zero, so they add nothing to any sum.
 *
 *   trainer.c   the table: supports, open, load, save, the passes
 *   step.c      one batch: gather, forward, loss, backward, update
 *   weighted.c  convolution and FC
 */
#ifndef IMPL_CPU_FUSED_FUSED_H
#define IMPL_CPU_FUSED_FUSED_H

#include "impl_cpu/direct/direct.h"

/* A layer with weights: FC as a convolution. */
typedef struct fused_weighted {
    cnn_conv_desc conv; /* mb means nothing */
    int64_t w, b;       /* where they stand among the parameters; b -1: none */
    direct_gather forward, backward;
    direct_weights weights;
} fused_weighted;

struct cnn_trainer {
    const cpu_context *cpu;
    cnn_context *context; /* the same, as the operations of cpu.h take it */
    const cnn_net *net;
    const direct_kernels *kern;
    cnn_optimizer_desc optimizer;
    double *loss_sum;
    int64_t *correct;
    fused_weighted *weighted; /* one a layer; of conv and FC */
    int first;                /* the first layer with weights: no gradient is needed before it */
    void *memory;
    float **value, **grad; /* one a value of the network */
    float *params, *grads, *state[2];
    int64_t step;
    /* A batch: images and labels as they are gathered, 0 1 2 ..., the loss's input and its gradient, [mb][classes]. */
    float *images, *logits, *dlogits;
    int32_t *labels, *plain;
    void *loss_parts;
    /* A piece for each worker. */
    float *acc, *sums;
    direct_point *points;
    int64_t acc_elems, points_each;
};

/* weighted.c: what follows from the problem, its lists taken from the arena (with a NULL base they are only counted);
 * and the three directions, on `blocks` blocks: y of x or dx of dy, and dw. */
void fused_weighted_make(const cnn_trainer *t, const cnn_layer *layer, fused_weighted *w, cpu_arena *arena);
void fused_weighted_gather(const cnn_trainer *t, const fused_weighted *w, bool forward, const float *in, float *out,
                           int64_t blocks);
void fused_weighted_weights(const cnn_trainer *t, const fused_weighted *w, const float *x, const float *dy,
                            int64_t blocks);

/* step.c: batch [first, first + mb) of a pass. */
enum { FUSED_FORWARD = 1, FUSED_BACKWARD = 2, FUSED_UPDATE = 4 };
void fused_step(cnn_trainer *t, const cnn_images *images, int64_t first, int64_t mb, int parts);

extern const cnn_trainers fused_trainers; /* trainer.c */

#endif
