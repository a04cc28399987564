/* net.h: a network's text -> plain data (cnn_net of cnn.h).
 *
 * One layer a line; '#' starts a comment; the input comes first, the loss last. Sizes are N, or HxW where it says so.
 * Numbers that are no sizes may be fractions: 1/785, -0.1/101.
 *   input C H W
 *   conv OC kernel=K|KHxKW [stride=1|SHxSW] [dilation=1|DHxDW] [pad=0|PHxPW] [groups=1] [bias=1]
 *   fc N [bias=1]
 *   relu | leaky_relu [A=0.01] | clipped_relu [A=6] | elu [A=1] | selu | sigmoid | tanh | identity
 *   scale A               times A
 *   max_pool kernel=K [stride=K] [pad=0]      avg_pool kernel=K [stride=K] [pad=0]      global_avg_pool
 *   dropout RATE
 *   batch_norm [eps=1e-5] [momentum=0.1]
 *   save NAME             names the value so far
 *   from NAME             goes back to a saved value: what follows reads that one, up to an add or concat of both ends
 *   add NAME              adds a saved value of the same shape (a residual connection)
 *   concat NAME           appends a saved value's channels
 *   repeat N ... end      the lines between, N times; repeats nest. A pass forgets at its end what it saved: names are
 *                         its own
 *   init default | kaiming | kaiming_uniform | xavier      for the weights of the layers that follow
 *   init uniform A | uniform LOW HIGH [bias=0]             from -A to A, or LOW to HIGH; with bias=1 biases too, else 0
 *   softmax_cross_entropy | quadratic | softmax_quadratic  the last: the quadratic loss behind a softmax
 * A layer's name is its kind and a number, which counts the kind's layers from 1 through all passes of repeats: conv1,
 * conv2, relu1, conv3.
 * dilation is the spacing of taps (1 is a dense kernel), as in the thesis; avg_pool divides by the pixels in the image.
 *
 * An activation works in place (output == inputs[0]) right after conv, fc, batch_norm or add, if nothing else reads
 * the value: those operations do not need their output again in the backward. */
#ifndef HARNESS_NET_NET_H
#define HARNESS_NET_NET_H

#include "../cnn.h"

enum { NET_MAX_LAYERS = 1024 };

/* How weights start. Kaiming (He) normal: standard deviation sqrt(2 / fan_in); Kaiming uniform: within
 * sqrt(6 / fan_in); Xavier: within sqrt(6 / (fan_in + fan_out)). Default: Kaiming normal for conv, uniform for FC. */
typedef enum net_init_kind {
    NET_INIT_DEFAULT,
    NET_INIT_KAIMING,
    NET_INIT_KAIMING_UNIFORM,
    NET_INIT_XAVIER,
    NET_INIT_UNIFORM,
    NET_INIT_COUNT
} net_init_kind;

typedef struct net_init {
    net_init_kind kind;
    double low, high; /* NET_INIT_UNIFORM: within [low, high) */
    bool biases;      /* drawn as the weights are; else they are 0 */
} net_init;

/* A cnn_net and what it points to. */
typedef struct cnn_network {
    cnn_net net;
    cnn_layer *layers;
    cnn_value *values;
    cnn_param *params;
    net_init *inits; /* one a layer */
    uint64_t seed;
} cnn_network;

/* From text; `file` is what errors call it: "FILE:LINE: ...", with what was expected, the offending word and the
 * nearest name. The seed fixes the initial weights and the dropout masks. Free with cnn_net_free(). */
cnn_status cnn_net_build(const char *file, const char *text, const cnn_type *type, int64_t batch, uint64_t seed,
                         cnn_network **network, cnn_error *err);
/* From a file: a path, or the NAME of bench/nets/NAME.net (see find_file.h). The network's name is the file's without
 * folder and ending. */
cnn_status cnn_net_load(const char *name, const cnn_type *type, int64_t batch, uint64_t seed, cnn_network **network,
                        cnn_error *err);
void cnn_net_free(cnn_network *network); /* NULL is accepted */

/* The initial parameters, param_elems elements of cnn_params_dtype() (gaps zero). The same for every implementation,
 * algorithm, layout and thread count; f32 is f64 rounded. */
void cnn_net_init_params(const cnn_network *network, void *params);

/* A layer's problem with another batch size, and for inference (dropout off, batch norm by running statistics). */
cnn_problem cnn_net_problem(const cnn_net *net, int layer, int64_t mb, bool inference);

/* Elements of a value for `mb` images; parameters that are trained, and all (alignment gaps not counted). */
int64_t cnn_net_value_elems(const cnn_net *net, int value, int64_t mb);
int64_t cnn_net_trained_count(const cnn_net *net);

#endif
