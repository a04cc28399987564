/* cnn/desc.h: descriptors: one operation on one set of shapes; every field filled in, none left to be deduced. What
 * each operation computes stands at its descriptor. Part of cnn.h. */
#ifndef CNN_DESC_H
#define CNN_DESC_H

#include "base.h"

/* Quantized results, of conv, conv3d and fc forward whose y has 8 bits (u8:s8:u8 and its like; of other types all of
 * this is 0). With acc = b[k] + sum w * (x - zero_x), in s32, over the same taps as ever, so that padding counts as
 * zero_x and adds nothing,
 *   y = saturate(round(scale * acc) + zero_y)
 * round: to the nearest whole number, of two as near the even one (where zero_y is odd, either of the two, for who adds
 * zero_y first), the product in f32 or better; saturate: what is below the least number of y's type becomes that, what
 * is above the largest becomes the largest. The scale, which is s_x * s_w / s_y of the three tensors, is an operand:
 * one f32, or with per_oc one for each output channel. zero_x is a number of x's type, zero_y of y's.
 * With an epilogue scale * acc goes through that before it is rounded (cnn_epilogue). */
typedef struct cnn_quantization {
    int16_t zero_x, zero_y;
    bool per_oc;
} cnn_quantization;

/* alpha is the slope of leaky ReLU, the ceiling of clipped ReLU, the scale of ELU (alpha*(e^x - 1) for x < 0), the
 * factor of SCALE (y = alpha*x); >= 0, so that f' can be had from y = f(x) alone. SELU is CNN_SELU_SCALE times the ELU
 * whose alpha is CNN_SELU_ALPHA (Klambauer et al., 2017). At a kink the derivative is the one of the side x <= 0
 * (x >= alpha: 0). The ceiling is alpha rounded to the type of x and y: where y reaches it, the derivative is 0. */
#define CNN_SELU_SCALE 1.0507009873554805
#define CNN_SELU_ALPHA 1.6732632423543772
#define CNN_ACT_LIST(X)                                                                                                \
    X(IDENTITY, "identity")                                                                                            \
    X(RELU, "relu")                                                                                                    \
    X(LEAKY_RELU, "leaky_relu")                                                                                        \
    X(CLIPPED_RELU, "clipped_relu")                                                                                    \
    X(ELU, "elu")                                                                                                      \
    X(SIGMOID, "sigmoid")                                                                                              \
    X(TANH, "tanh")                                                                                                    \
    X(SELU, "selu")                                                                                                    \
    X(SCALE, "scale")
#define CNN_ACT_ID(id, text) CNN_ACT_##id,
typedef enum cnn_act_kind { CNN_ACT_LIST(CNN_ACT_ID) CNN_ACT_COUNT } cnn_act_kind;

/* What is done to the sums of conv, conv3d and fc forward before they are stored, in f32, f64, f16, bf16, what is
 * joined of them, and of quantized results (of sums in s32 this is 0, as it is where nothing is done):
 *   y = f(b + sum + z)
 * z is an operand, of the shape, layout and type of y, read where `add` is set (a residual connection). f is the
 * activation; alpha is its parameter, 0 where it has none. beta is 0: y is replaced. z, the sum and the values of f
 * have the precision of products and sums; what has 16 bits is rounded once, when y is stored.
 *
 * Of quantized results (cnn_quantization) z is quantized as y is, by the same scale and zero point, and
 *   v = scale * acc + (z - zero_y)          without `add`: v = scale * acc
 *   y = saturate(round(f(v)) + zero_y)
 * in f32 or better; rounded to a whole number once, behind f. v counts y's steps from its zero point on, so f has its
 * kink at zero_y. f is ReLU, leaky ReLU, whose slope has no unit and is 256 at most, or clipped ReLU, whose ceiling
 * counts y's steps: ReLU6 is 6 / s_y. What other functions make of v depends on s_y, which is no operand. */
typedef struct cnn_epilogue {
    cnn_act_kind act; /* CNN_ACT_IDENTITY: none */
    bool add;
    double alpha;
} cnn_epilogue;

/* y[n,k,p,q] = b[k] + sum_{c,i,j} w[k,c,i,j] * x[n, c, p*sh + i*(dh+1) - ph, q*sw + j*(dw+1) - pw], zero outside x,
 * c over the input channels of k's group (thesis eq. 3.5 to 3.7; d = dh + 1 there). Groups are contiguous blocks of
 * oc/g output and ic/g input channels; w counts c within its group. With h = p*sh + i*(dh+1) - ph, v likewise
 * (eq. 3.8 to 3.10):
 *   BWD_D  dx[n,c,h,v] = sum_{k,i,j,p,q} w[k,c,i,j] * dy[n,k,p,q], over all that read this pixel
 *   BWD_W  dw[k,c,i,j] = sum_{n,p,q} dy[n,k,p,q] * x[n,c,h,v],  db[k] = sum_{n,p,q} dy[n,k,p,q]
 * With `flip`, w[k,c,kh-1-i,kw-1-j] stands for w[k,c,i,j] in all three, and dw likewise.
 * ph and pw are the padding above and on the left; ph_r and pw_r, below and on the right, may be negative: then the
 * last input rows or columns are not read.
 *
 * CONV3D has a third axis, the depth: id, od, kd, sd, pd, pd_r, dd are to it as ih ... dh are to the rows, and the
 * formulas get an index more. x is [mb][ic][id][ih][iw], or [mb][id][ih][iw][ic] in NHWC; y likewise; w is
 * [oc][ic/g][kd][kh][kw]. Operands have four dimensions: rows of all depths lie behind one another and are counted
 * together, id*ih of them. A CONV has none of it: kernels of CONV never look there. */
typedef struct cnn_conv_desc {
    cnn_type t;
    int64_t g, mb, ic, ih, iw, oc, oh, ow, kh, kw, sh, sw, ph, pw, ph_r, pw_r, dh, dw;
    bool bias, flip;
    cnn_quantization quant;
    int64_t id, od, kd, sd, pd, pd_r, dd;
    cnn_epilogue epilogue;
} cnn_conv_desc;

/* y[n,k] = b[k] + sum_{c,h,w} w[k,c,h,w] * x[n,c,h,w]. x is a 4-D tensor in t.layout; y is [mb][oc]. */
typedef struct cnn_fc_desc {
    cnn_type t;
    int64_t mb, ic, ih, iw, oc;
    bool bias;
    cnn_quantization quant;
    cnn_epilogue epilogue;
} cnn_fc_desc;

/* MAX takes padding for minus infinity; on a tie the gradient goes to the first maximum in row-major order of the
 * window. AVG divides by the taps inside x, AVG_PAD by kh*kw. GLOBAL_AVG has kh = ih, kw = iw, oh = ow = 1. Every
 * window touches at least one pixel. dh, dw as in cnn_conv_desc.
 * POOL3D has the depth as a third axis, as CONV3D has it: kd, od ... are to it as kh, oh ... are to the rows, a window
 * has kd*kh*kw taps, row-major order begins with the depth, and tensors are as CONV3D's. A POOL has none of it. */
#define CNN_POOL_LIST(X) X(MAX, "max") X(AVG, "avg") X(AVG_PAD, "avg_pad") X(GLOBAL_AVG, "global_avg")
#define CNN_POOL_ID(id, text) CNN_POOL_##id,
typedef enum cnn_pool_kind { CNN_POOL_LIST(CNN_POOL_ID) CNN_POOL_COUNT } cnn_pool_kind;

typedef struct cnn_pool_desc {
    cnn_type t;
    cnn_pool_kind kind;
    int64_t mb, ic, ih, iw, oh, ow, kh, kw, sh, sw, ph, pw, ph_r, pw_r, dh, dw;
    int64_t id, od, kd, sd, pd, pd_r, dd; /* of a POOL3D */
} cnn_pool_desc;

/* y = f(x). */
typedef struct cnn_act_desc {
    cnn_type t;
    cnn_act_kind kind;
    double alpha;
    int64_t mb, ic, ih, iw;
} cnn_act_desc;

/* Of each image, t being 1 at its label and 0 elsewhere:
 *   CROSS_ENTROPY      y = softmax(x) over the ic classes, loss -log(y[label])
 *   QUADRATIC          y = x, loss 1/2 sum_c (y[c] - t[c])^2
 *   SOFTMAX_QUADRATIC  y = softmax(x), loss as of QUADRATIC
 * d loss / dx is y - t; of SOFTMAX_QUADRATIC dx[c] = y[c] * sum_k y[k] * ((y[c] - t[c]) - (y[k] - t[k])), which is the
 * softmax's Jacobian times y - t where the y sum to 1. In a type of 16 bits x and dx have it, y is f32. */
#define CNN_LOSS_LIST(X)                                                                                               \
    X(CROSS_ENTROPY, "softmax_cross_entropy") X(QUADRATIC, "quadratic") X(SOFTMAX_QUADRATIC, "softmax_quadratic")
#define CNN_LOSS_ID(id, text) CNN_LOSS_##id,
typedef enum cnn_loss_kind { CNN_LOSS_LIST(CNN_LOSS_ID) CNN_LOSS_COUNT } cnn_loss_kind;

typedef struct cnn_loss_desc {
    cnn_type t;
    cnn_loss_kind kind;
    int64_t mb, ic;
} cnn_loss_desc;

/* y = x / (1 - rate) where cnn_dropout_keep() says so, else 0; in inference y = x. */
typedef struct cnn_dropout_desc {
    cnn_type t;
    double rate;
    uint64_t seed;
    bool inference;
    int64_t mb, ic, ih, iw;
} cnn_dropout_desc;

/* y = x[0] + x[1]. Its backward is the identity, so it has no BWD_D. */
typedef struct cnn_add_desc {
    cnn_type t;
    int64_t mb, ic, ih, iw;
} cnn_add_desc;

/* Along the channels: y has sum(ic[i]) of them. */
typedef struct cnn_concat_desc {
    cnn_type t;
    int64_t mb, ih, iw;
    int n_inputs;
    int64_t ic[CNN_MAX_INPUTS];
} cnn_concat_desc;

/* Per channel over (n,h,w): y = gamma * (x - mean) / sqrt(var + eps) + beta, var biased. In training the running
 * statistics become (1 - momentum)*running + momentum*batch, with the unbiased variance (n/(n-1), as in PyTorch); in
 * inference they are what is used. */
typedef struct cnn_batchnorm_desc {
    cnn_type t;
    double eps, momentum;
    bool inference;
    int64_t mb, ic, ih, iw;
} cnn_batchnorm_desc;

/* One update of `count` parameters, thesis eq. 3.11 to 3.21. First g = grad/S + l1*sign(w) + l2*w, S being 1 (but see
 * below); then
 *   SGD       w -= lr*g
 *   MOMENTUM  m = beta1*m - lr*g;              w += m
 *   ADAGRAD   s += g*g;                        w -= lr*g / (sqrt(s) + eps)
 *   RMSPROP   s = beta2*s + (1-beta2)*g*g;     w -= lr*g / (sqrt(s) + eps)
 *   ADAM      m = beta1*m + (1-beta1)*g; s = beta2*s + (1-beta2)*g*g;
 *             w -= lr * (m/(1-beta1^(t+1))) / (sqrt(s/(1-beta2^(t+1))) + eps),  t = *step, from 0.
 *   NADAM     m and s as ADAM (Dozat, 2016);
 *             w -= lr * (beta1*m/(1-beta1^(t+2)) + (1-beta1)*g/(1-beta1^(t+1))) / (sqrt(s/(1-beta2^(t+1))) + eps)
 * With decay_steps > 0 the rate falls linearly to zero: lr * max(0, 1 - t/decay_steps) stands for lr.
 *
 * In a type of 16 bits (Micikevicius et al., 2018) w, grad and the state are f32, and grad holds S times the gradient,
 * S being the loss scale. `copy` is w rounded to the type, to the nearest, for the kernels to read. Where any element
 * of grad is infinite or a NaN, the step is left out: w, state, copy and *step stay as they are. `scaling` is three
 * doubles: S; the steps made in a row since S changed or a step was left out; all steps that were left out. With growth
 * > 0 the loss scale is dynamic: a step that is left out halves an S above 1, and `growth` steps in a row double S. */
enum { CNN_LOSS_SCALE, CNN_STEPS_KEPT, CNN_STEPS_LEFT_OUT, CNN_SCALING_COUNT };
#define CNN_OPTIMIZER_LIST(X)                                                                                          \
    X(SGD, "sgd")                                                                                                      \
    X(MOMENTUM, "momentum")                                                                                            \
    X(ADAGRAD, "adagrad")                                                                                              \
    X(RMSPROP, "rmsprop")                                                                                              \
    X(ADAM, "adam")                                                                                                    \
    X(NADAM, "nadam")
typedef enum cnn_optimizer_kind { CNN_OPTIMIZER_LIST(CNN_ID) CNN_OPTIMIZER_COUNT } cnn_optimizer_kind;

typedef struct cnn_optimizer_desc {
    cnn_type t;
    cnn_optimizer_kind kind;
    int64_t count;
    double lr, beta1, beta2, eps, l1, l2, decay_steps, growth;
} cnn_optimizer_desc;

/* Any operation. `type` is the descriptor's own first member.
 *
 * DECONV, the transposed convolution, is what PyTorch calls ConvTranspose2d: a convolution the other way round. `conv`
 * is that convolution, but for `bias`: its y has the shape of the x here, its x that of the y here, its BWD_D is FWD
 * here, its FWD is BWD_D here, and w and dw stand as there ([ic][oc/g][kh][kw], ic and oc being the channels in and out
 * here). The bias is of the channels out here. An implementation is never asked for one: its algorithms that serve
 * DECONV and CONV are asked for the convolution, without bias, and its slots bias_add and bias_gradient for the rest.
 */
typedef struct cnn_problem {
    cnn_op op;
    char name[CNN_NAME_MAX]; /* the n"..." of the descriptor; "" without one */
    union {
        cnn_type type;
        cnn_conv_desc conv;
        cnn_fc_desc fc;
        cnn_pool_desc pool;
        cnn_act_desc act;
        cnn_loss_desc loss;
        cnn_dropout_desc dropout;
        cnn_add_desc add;
        cnn_concat_desc concat;
        cnn_batchnorm_desc batchnorm;
        cnn_optimizer_desc optimizer;
    } u;
} cnn_problem;

/* Whether element `index` (position in memory) is kept in update `step`: a counter-based draw (splitmix64's finalizer),
 * the same in every implementation, so forward and backward need not store a mask and results can be compared. */
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline bool
    cnn_dropout_keep(uint64_t seed, int64_t step, int64_t index, double rate)
{
    uint64_t z = seed + 0x9E3779B97F4A7C15u * ((uint64_t)step * 0xD1342543DE82EF95u + (uint64_t)index + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (double)(z >> 11) * (1.0 / 9007199254740992.0) >= rate;
}
/* The seed by which element 0 is drawn as element `first` is by this one: of a part of a batch. */
static inline uint64_t cnn_dropout_seed_from(uint64_t seed, int64_t first)
{
    return seed + 0x9E3779B97F4A7C15u * (uint64_t)first;
}

#endif
