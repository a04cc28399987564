/* cnn/shape.h: what kernels need to know of shapes, sizes and names, in functions of a line or a few. Not part of
 * cnn.h, for whom needs it; host code. 64-bit, overflow checked. */
#ifndef CNN_SHAPE_H
#define CNN_SHAPE_H

#include "net.h"

#include <string.h>

/* ---- Names: "?" of a value that there is not. */
#define CNN_TEXT(id, text) text,
#define CNN_DTYPE_TEXT(id, text, bytes) text,
#define CNN_DTYPE_NAMES(X) CNN_DTYPE_LIST(CNN_DTYPE_TEXT)
#define CNN_NUMBER_NAMES(X) CNN_DTYPE_LIST(CNN_DTYPE_TEXT) CNN_WHOLE_LIST(CNN_DTYPE_TEXT)
#define CNN_NAME(function, type, LIST)                                                                                 \
    static inline const char *function(type value)                                                                     \
    {                                                                                                                  \
        static const char *const names[] = {LIST(CNN_TEXT)};                                                           \
        return (size_t)value < sizeof names / sizeof names[0] ? names[value] : "?";                                    \
    }
CNN_NAME(cnn_status_name, cnn_status, CNN_STATUS_LIST)               /* "ok", "bad argument", ... */
CNN_NAME(cnn_dtype_name, cnn_dtype, CNN_NUMBER_NAMES)                /* "f32", "f64", "u8:s8:s32", "u8", ... */
CNN_NAME(cnn_layout_name, cnn_layout, CNN_LAYOUT_LIST)               /* "nchw", "nhwc" */
CNN_NAME(cnn_math_name, cnn_math, CNN_MATH_LIST)                     /* "f32", "tf32", ... */
CNN_NAME(cnn_dir_name, cnn_dir, CNN_DIR_LIST)                        /* "FWD", "BWD_D", "BWD_W" */
CNN_NAME(cnn_pool_name, cnn_pool_kind, CNN_POOL_LIST)                /* "max", "avg", ... */
CNN_NAME(cnn_act_name, cnn_act_kind, CNN_ACT_LIST)                   /* "identity", "relu", ... */
CNN_NAME(cnn_loss_name, cnn_loss_kind, CNN_LOSS_LIST)                /* "softmax_cross_entropy", "quadratic" */
CNN_NAME(cnn_optimizer_name, cnn_optimizer_kind, CNN_OPTIMIZER_LIST) /* "sgd", "momentum", ... */
CNN_NAME(cnn_param_role_name, cnn_param_role, CNN_PARAM_LIST)        /* "weight", "bias", ... */
#define CNN_OP_TEXT(id, name, dirs) #name,
#define CNN_OP_NAMES(X) CNN_OP_LIST(CNN_OP_TEXT)
CNN_NAME(cnn_op_name, cnn_op, CNN_OP_NAMES) /* "conv", "fc", "pool", ... */

/* Bytes of one number; 0 of a type that there is not. */
static inline size_t cnn_dtype_size(cnn_dtype dtype)
{
#define CNN_SIZE(id, text, bytes) bytes,
    static const size_t sizes[] = {CNN_DTYPE_LIST(CNN_SIZE) CNN_WHOLE_LIST(CNN_SIZE)};
    return (size_t)dtype < CNN_NUMBER_COUNT ? sizes[dtype] : 0;
}

/* What the arrays of a problem hold (CNN_JOINED_LIST): all the same, where its type is not joined. */
typedef enum cnn_part {
    CNN_PART_FACTOR,
    CNN_PART_WEIGHTS,
    CNN_PART_RESULT,
    CNN_PART_BIAS, /* and what products are added up in */
    CNN_PART_SCALE,
    CNN_PART_COUNT
} cnn_part;
static inline cnn_dtype cnn_part_dtype(cnn_dtype dtype, cnn_part part)
{
#define CNN_JOINED_ROW(id, x, w, y, b) {CNN_##id, {CNN_##x, CNN_##w, CNN_##y, CNN_##b, CNN_F32}},
    static const struct {
        cnn_dtype joined, of[CNN_PART_COUNT];
    } rows[] = {CNN_JOINED_LIST(CNN_JOINED_ROW)};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].joined == dtype) return rows[i].of[part];
    return dtype;
}
/* Which part an array is of a convolution or FC layer: x, w, b, z, scale, y, dy, dx, dw, db. */
static inline cnn_part cnn_part_of(const char *array)
{
    if (strcmp(array, "w") == 0) return CNN_PART_WEIGHTS;
    if (strcmp(array, "b") == 0) return CNN_PART_BIAS;
    if (strcmp(array, "scale") == 0) return CNN_PART_SCALE;
    return strcmp(array, "x") == 0 || strcmp(array, "dy") == 0 ? CNN_PART_FACTOR : CNN_PART_RESULT;
}
static inline bool cnn_is_joined(cnn_dtype dtype) { return cnn_part_dtype(dtype, CNN_PART_RESULT) != dtype; }
/* A number type of integers; and a type of problems whose sums are integers. */
static inline bool cnn_is_whole(cnn_dtype dtype) { return dtype == CNN_U8 || dtype == CNN_S8 || dtype == CNN_S32; }
static inline bool cnn_sums_whole(cnn_dtype dtype) { return cnn_is_whole(cnn_part_dtype(dtype, CNN_PART_RESULT)); }

/* A type whose results are fewer bits of a scaled sum. */
static inline bool cnn_is_quantized(cnn_dtype dtype)
{
    return cnn_part_dtype(dtype, CNN_PART_RESULT) != cnn_part_dtype(dtype, CNN_PART_BIAS);
}

/* What weights, statistics and optimizer state are kept in, beside activations of this type. Batch norm, losses and
 * optimizers add up over a batch or a whole training: where activations have 16 bits, they keep f32. */
static inline cnn_dtype cnn_weights_dtype(cnn_op op, cnn_dtype dtype)
{
    const bool keeps = op == CNN_OP_BATCHNORM || op == CNN_OP_LOSS || op == CNN_OP_OPTIMIZER;
    return keeps && (dtype == CNN_F16 || dtype == CNN_BF16) ? CNN_F32 : dtype;
}
/* The type with its `weights` as the operation has them. */
static inline cnn_type cnn_type_for(cnn_op op, cnn_type type)
{
    type.weights = cnn_weights_dtype(op, type.dtype);
    return type;
}
/* Whether activations have 16 bits, and weights and state more. */
static inline bool cnn_is_mixed(const cnn_type *type)
{
    return (type->dtype == CNN_F16 || type->dtype == CNN_BF16) && type->weights == CNN_F32;
}

/* What a network's parameters, their gradients and the optimizer's state are kept in; bytes of one. */
static inline cnn_dtype cnn_params_dtype(const cnn_net *net)
{
    return cnn_weights_dtype(CNN_OP_OPTIMIZER, net->type.dtype);
}
static inline size_t cnn_param_size(const cnn_net *net) { return cnn_dtype_size(cnn_params_dtype(net)); }

/* Whether `u.conv` describes it: a convolution of two or three dimensions, or a transposed one. And whether it has
 * weights: these, and FC. */
static inline bool cnn_is_conv(const cnn_problem *problem)
{
    return problem->op == CNN_OP_CONV || problem->op == CNN_OP_DECONV || problem->op == CNN_OP_CONV3D;
}
/* Of a CONV or a CONV3D, for kernels that do both: a CONV's depths are one. */
static inline cnn_conv_desc cnn_with_depth(const cnn_problem *problem)
{
    cnn_conv_desc d = problem->u.conv;
    if (problem->op != CNN_OP_CONV3D) d.id = d.od = d.kd = d.sd = 1, d.pd = d.pd_r = d.dd = 0;
    return d;
}
static inline bool cnn_is_weighted(const cnn_problem *problem)
{
    return cnn_is_conv(problem) || problem->op == CNN_OP_FC;
}

/* Whether `u.pool` describes it; and of a POOL or a POOL3D, for kernels that do both: a POOL's depths are one. */
static inline bool cnn_is_pool(const cnn_problem *problem)
{
    return problem->op == CNN_OP_POOL || problem->op == CNN_OP_POOL3D;
}
static inline cnn_pool_desc cnn_pool_with_depth(const cnn_problem *problem)
{
    cnn_pool_desc d = problem->u.pool;
    if (problem->op != CNN_OP_POOL3D) d.id = d.od = d.kd = d.sd = 1, d.pd = d.pd_r = d.dd = 0;
    return d;
}

/* How results are quantized; all 0 where they are not. */
static inline cnn_quantization cnn_quantization_of(const cnn_problem *problem)
{
    const cnn_quantization none = {0, 0, false};
    if (problem->op == CNN_OP_FC) return problem->u.fc.quant;
    return cnn_is_conv(problem) ? problem->u.conv.quant : none;
}

/* What is done to its sums (all 0: nothing), and whether anything is. */
static inline cnn_epilogue cnn_epilogue_of(const cnn_problem *problem)
{
    const cnn_epilogue none = {CNN_ACT_IDENTITY, false, 0.0};
    if (problem->op == CNN_OP_FC) return problem->u.fc.epilogue;
    return cnn_is_conv(problem) ? problem->u.conv.epilogue : none;
}
static inline bool cnn_has_epilogue(const cnn_problem *problem)
{
    const cnn_epilogue e = cnn_epilogue_of(problem);
    return e.add || e.act != CNN_ACT_IDENTITY;
}

/* Whether beta is 0, always: results are no sums. */
static inline bool cnn_always_replaces(const cnn_problem *problem)
{
    return cnn_is_quantized(problem->u.type.dtype) || cnn_has_epilogue(problem);
}

/* The directions a problem has: a mask of 1 << cnn_dir (batch norm in inference has no backward, nor have
 * integers, nor what has an epilogue). */
static inline uint32_t cnn_op_dirs(const cnn_problem *problem)
{
#define CNN_OP_DIRS(id, name, dirs) dirs,
    static const uint32_t all[] = {CNN_OP_LIST(CNN_OP_DIRS)};
    if ((size_t)problem->op >= CNN_OP_COUNT) return 0;
    const bool forward = (problem->op == CNN_OP_BATCHNORM && problem->u.batchnorm.inference) ||
                         cnn_sums_whole(problem->u.type.dtype) || /* integers have no gradients */
                         cnn_has_epilogue(problem);
    return forward ? 1u << CNN_FWD : all[problem->op];
}

/* State vectors an optimizer keeps beside the weights: 0, 1 or 2. */
static inline int cnn_optimizer_states(cnn_optimizer_kind kind)
{
    return kind == CNN_SGD ? 0 : kind == CNN_ADAM || kind == CNN_NADAM ? 2 : 1;
}

/* ---- Products: a*b*... ; false on overflow of int64_t (or a negative factor). */
static inline bool cnn_mul(int64_t a, int64_t b, int64_t *product)
{
    return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, product);
}

static inline bool cnn_mul4(int64_t a, int64_t b, int64_t c, int64_t d, int64_t *product)
{
    int64_t ab, cd;
    return cnn_mul(a, b, &ab) && cnn_mul(c, d, &cd) && cnn_mul(ab, cd, product);
}

/* ---- Windows. */

/* FC as the convolution that it is: its kernel covers the image, and its weights stand in that order. */
static inline cnn_conv_desc cnn_fc_as_conv(const cnn_fc_desc *f)
{
    cnn_conv_desc d;
    d.t = f->t;
    d.g = d.oh = d.ow = d.sh = d.sw = 1;
    d.id = d.od = d.kd = d.sd = 1;
    d.mb = f->mb;
    d.ic = f->ic;
    d.ih = d.kh = f->ih;
    d.iw = d.kw = f->iw;
    d.oc = f->oc;
    d.ph = d.pw = d.ph_r = d.pw_r = d.dh = d.dw = 0;
    d.pd = d.pd_r = d.dd = 0;
    d.bias = f->bias;
    d.flip = false;
    d.quant = f->quant;
    d.epilogue = f->epilogue;
    return d;
}

/* Spatial extent of a dilated kernel: (k-1)*(d+1)+1. */
static inline int64_t cnn_extent(int64_t k, int64_t d) { return (k - 1) * (d + 1) + 1; }

/* Output size (thesis eq. 3.3), floor division; <= 0 when the kernel does not fit. */
static inline int64_t cnn_out_size(int64_t i, int64_t k, int64_t s, int64_t pl, int64_t pr, int64_t d)
{
    const int64_t room = i + pl + pr - cnn_extent(k, d);
    return room < 0 ? 0 : room / s + 1;
}

/* Right padding that makes the output exactly o; may be negative. */
static inline int64_t cnn_right_pad(int64_t i, int64_t o, int64_t k, int64_t s, int64_t pl, int64_t d)
{
    return (o - 1) * s + cnn_extent(k, d) - i - pl;
}

/* [*first, *last): taps t of a kernel of k at output position o that fall inside 0 <= o*s - p + t*(d+1) < i. */
static inline void cnn_tap_range(int64_t o, int64_t i, int64_t k, int64_t s, int64_t p, int64_t d, int64_t *first,
                                 int64_t *last)
{
    const int64_t step = d + 1, start = o * s - p; /* tap t reads start + t*step */
    int64_t f = start >= 0 ? 0 : (-start + step - 1) / step;
    int64_t l = i - start <= 0 ? 0 : (i - start + step - 1) / step;
    if (f > k) f = k;
    if (l > k) l = k;
    *first = f;
    *last = l < f ? f : l;
}

/* Of one axis: input positions that some tap reads, taps that read any, outputs that do. Takes o + k steps. */
typedef struct cnn_axis_use {
    int64_t pixels, taps, outputs;
} cnn_axis_use;
static inline int64_t cnn_greatest_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Tap t of output o reads what tap t + s/g of output o - (d+1)/g has read, g being the greatest divisor of s and d+1:
 * new to an output are only the taps that have no such counterpart. */
static inline cnn_axis_use cnn_use_of_axis(int64_t i, int64_t o, int64_t k, int64_t s, int64_t p, int64_t d)
{
    const int64_t step = d + 1, g = cnn_greatest_divisor(s, step);
    cnn_axis_use use = {0, 0, 0};
    for (int64_t at = 0; at < o; at++) {
        int64_t first, last;
        cnn_tap_range(at, i, k, s, p, d, &first, &last);
        use.outputs += last > first;
        if (at >= step / g && first < k - s / g) first = k - s / g;
        if (last > first) use.pixels += last - first;
    }
    for (int64_t t = 0; t < k; t++) {
        const int64_t before = p - t * step; /* how far before the input the first output's tap lies */
        const int64_t at = before > 0 ? (before + s - 1) / s : 0;
        use.taps += at < o && at * s - before < i;
    }
    return use;
}

/* Position in memory of element (n,c,h,w) of a tensor with C channels, H x W. */
static inline int64_t cnn_offset(cnn_layout layout, int64_t C, int64_t H, int64_t W, int64_t n, int64_t c, int64_t h,
                                 int64_t w)
{
    return layout == CNN_NCHW ? ((n * C + c) * H + h) * W + w : ((n * H + h) * W + w) * C + c;
}

/* ---- The knob workspace_limit, which every implementation has that takes workspace: the most MiB that a convolution
 * or FC may take. --set '*.workspace_limit=N' sets it for all of them. */

/* Its row in a list of knobs. */
#define CNN_KNOB_WORKSPACE_LIMIT(KNOB)                                                                                 \
    KNOB(WORKSPACE_LIMIT, "workspace_limit",                                                                           \
         "most MiB of workspace that a convolution or FC may take; 0: none; -1: no limit", -1, 1 << 20, -1)

/* In bytes; SIZE_MAX without a limit. */
static inline size_t cnn_workspace_limit(int64_t mib) { return mib >= 0 ? (size_t)mib << 20 : SIZE_MAX; }

static inline cnn_status cnn_workspace_check(int64_t mib, size_t bytes, cnn_error *err)
{
    if (bytes <= cnn_workspace_limit(mib)) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "%zu bytes of workspace are needed, and the knob workspace_limit allows %zu",
                    bytes, cnn_workspace_limit(mib));
}

#endif
