/* network_pass.h: a whole network's forward and backward in float64: single operations' references, one after another.
 *
 * Every layer writes an array of its own, in-place activations too, so that everything the backward reads is still
 * there. What it takes may be a part of a larger batch, where no layer mixes images: gradients are then those of the
 * mean over all of it.
 *
 * In f16 and bf16 what stands in memory between two layers is rounded here, too (`rounds`): values, their gradients
 * with the loss scale in them, and the copy of the weights that are multiplied. What is left to differ is how sums are
 * rounded before that, which takes few numbers to the other side of a last place. */
#ifndef VERIFY_TRAINING_NETWORK_PASS_H
#define VERIFY_TRAINING_NETWORK_PASS_H

#include "harness/base/rng.h"
#include "verify/oracle/reference.h"

typedef struct vf_pass_layer {
    int source[CNN_MAX_INPUTS]; /* the layer whose output each input is; -1: the images */
    double *out, *grad;         /* output, and the loss's gradient with respect to it */
    double *save_mean, *save_invstd;
    int64_t count; /* elements of out, from which all four arrays go on in one */
} vf_pass_layer;

typedef struct vf_pass {
    const cnn_net *net;
    thread_pool *pool;
    vf_pass_layer *layers;
    double *labels, *scratch; /* scratch: as large as the largest input of any layer */
    const double *params, *images;
    int64_t scratch_count, image_count;
    int64_t first, whole; /* where this part stands in the batch, and images of all of it; set by open: 0, net->batch */
    double step;          /* which update it is: dropout's masks depend on it; set by open: 0 */
    bool rounds;          /* set by open: of a network in f16 or bf16 */
    double loss_scale;    /* set by open: 1 */
    /* How much of itself each number is moved by at most before it is rounded, at random: what another order of sums
     * may do. Set by open: 0. */
    double nudge;
    cnn_rng rng;
    double *copy;    /* as long as params: those that kernels of 16 bits read */
    double *running; /* (optional) as long as params: gets the running statistics behind a forward in training */
} vf_pass;

/* The flat vector of parameters, or as many of its elements, as doubles. */
void vf_net_doubles(const cnn_net *net, const void *bytes, int64_t count, double *values);
/* So many images as the network takes them, for vf_pack() and vf_unpack(). */
cnn_operand vf_net_images(const cnn_net *net, int64_t count);
/* The loss scale with which gradients are verified. */
double vf_net_loss_scale(const cnn_net *net);
/* The 2-norm of a - b (b NULL: of a); infinite where anything is not finite. */
double vf_distance(const double *a, const double *b, int64_t count);
/* Whether the gradient of this parameter is nothing but rounding, beside `share` of the whole: of a bias before batch
 * norm it is 0 in exact arithmetic. Such a one says nothing. */
bool vf_vanishes(const cnn_net *net, const cnn_param *param, const double *grads, double share);

cnn_status vf_pass_open(vf_pass *pass, const cnn_net *net, thread_pool *pool, cnn_error *err);
void vf_pass_close(vf_pass *pass);

/* The loss is the mean over net->batch. params: the flat vector as doubles; images in (n,c,h,w) order. *kinks (may be
 * NULL) gets a number that changes when any activation changes sides or any maximum changes hands. */
cnn_status vf_pass_forward(vf_pass *pass, const double *params, const double *images, const int32_t *labels,
                           double *loss, uint64_t *kinks, cnn_error *err);
/* What a layer's input is: the images, or another layer's output. */
const double *vf_pass_input(const vf_pass *pass, int layer, int input);
/* After a forward: how near a value comes to a kink of the layer that reads it, in parts of the values' root mean
 * square. Rounding moves values, and across a kink the gradient jumps. */
double vf_pass_clearance(const vf_pass *pass);
/* After a forward: brings each value that is so close to a kink of the layer that reads it (in parts of the values'
 * root mean square) to its other side, for the backward to see. */
void vf_pass_tilt(vf_pass *pass, double width);
/* After a forward: d loss / d params, in the flat vector's order, zero where nothing is trained. */
cnn_status vf_pass_backward(vf_pass *pass, double *grads, cnn_error *err);

#endif
