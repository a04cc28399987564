/* quantized.c: a plug-in as whole.c, with quantized results: u8 or s8 by s8, added up in s32, scaled, rounded and
 * saturated to u8 or s8, with an epilogue. It is right as it stands; each mistake of `quantized.mutants` and of
 * `quantized_epilogue.mutants` is one change in it. */
#include <cnn.h>
#include <cnn/half.h>

#include <stdlib.h>

struct cnn_context {
    int threads;
};

static cnn_status quantized_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    *context = malloc(sizeof **context);
    if (*context == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context");
    (*context)->threads = params->threads;
    return CNN_OK;
}

static void quantized_close(cnn_context *context) { free(context); }

static cnn_status quantized_supports(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    (void)context;
    const cnn_conv_desc *d = &request->problem->u.conv;
    if (request->problem->op != CNN_OP_CONV) return CNN_FAIL(err, CNN_UNSUPPORTED, "quantized does convolution only");
    if (d->t.layout != CNN_NCHW || d->flip)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "quantized computes cross-correlation in layout NCHW only");
    return CNN_OK;
}

/* A pixel, counted from the zero point. */
static int32_t pixel(const cnn_conv_desc *d, const void *x, int64_t at)
{
    const bool is_signed = cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR) == CNN_S8;
    const int32_t stored = is_signed ? ((const int8_t *)x)[at] : ((const uint8_t *)x)[at];
    return stored - d->quant.zero_x;
}

static int32_t padding(const cnn_conv_desc *d)
{
    (void)d;
    return 0;
}

static int32_t product(const cnn_conv_desc *d, const cnn_weighted_args *a, const int64_t at[4], int64_t t)
{
    const int64_t channels = d->ic / d->g, c = t / (d->kh * d->kw), i = t / d->kw % d->kh, j = t % d->kw;
    const int64_t h = at[2] * d->sh - d->ph + i * (d->dh + 1), v = at[3] * d->sw - d->pw + j * (d->dw + 1);
    const int64_t first = at[1] / (d->oc / d->g) * channels;
    const bool outside = h < 0 || h >= d->ih || v < 0 || v >= d->iw;
    const int32_t x = outside ? padding(d) : pixel(d, a->x, ((at[0] * d->ic + first + c) * d->ih + h) * d->iw + v);
    return x * ((const int8_t *)a->w)[at[1] * channels * d->kh * d->kw + t];
}

static int32_t sum_of(const cnn_conv_desc *d, const cnn_weighted_args *a, const int64_t at[4])
{
    const int64_t terms = d->ic / d->g * d->kh * d->kw;
    int32_t sum = a->b != NULL ? ((const int32_t *)a->b)[at[1]] : 0;
    for (int64_t t = 0; t < terms; t++) sum += product(d, a, at, t);
    return sum;
}

/* The sum, as it is scaled. */
static int32_t kept(int32_t sum) { return sum; }

static float scale_of(const cnn_conv_desc *d, const cnn_weighted_args *a, int64_t k)
{
    const float scale = a->scale[d->quant.per_oc ? k : 0];
    return scale;
}

/* z, which is quantized as y is, from its zero point on. */
static float residual(const cnn_conv_desc *d, const void *z, int64_t at)
{
    const bool is_signed = cnn_part_dtype(d->t.dtype, CNN_PART_RESULT) == CNN_S8;
    const int stored = is_signed ? ((const int8_t *)z)[at] : ((const uint8_t *)z)[at];
    return (float)(stored - d->quant.zero_y);
}

static float activated(const cnn_epilogue *e, float v)
{
    const float alpha = (float)e->alpha;
    if (e->act == CNN_ACT_LEAKY_RELU) return v < 0 ? alpha * v : v;
    if (e->act == CNN_ACT_CLIPPED_RELU) return v < 0 ? 0 : v > alpha ? alpha : v;
    return e->act == CNN_ACT_RELU && v < 0 ? 0 : v;
}

/* Behind the epilogue. */
static float finished(const cnn_conv_desc *d, const void *z, int64_t at, float v)
{
    const float sum = v + (d->epilogue.add ? residual(d, z, at) : 0);
    return activated(&d->epilogue, sum);
}

/* To the nearest, of two as near the even one; and with the zero point. */
static float rounded(const cnn_conv_desc *d, float v)
{
    const float nearest = nearbyintf(v);
    return nearest + (float)d->quant.zero_y;
}

/* The bits of a u8 or an s8. */
static uint8_t stored(const cnn_conv_desc *d, float v)
{
    const cnn_dtype result = cnn_part_dtype(d->t.dtype, CNN_PART_RESULT);
    const float least = (float)cnn_whole_least(result), most = (float)cnn_whole_most(result);
    return (uint8_t)(int)fminf(fmaxf(v, least), most);
}

static cnn_status quantized_conv(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args,
                                 cnn_error *err)
{
    (void)context, (void)err;
    const cnn_conv_desc *d = &plan->problem.u.conv;
    uint8_t *y = args->y;
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t k = 0; k < d->oc; k++)
            for (int64_t p = 0; p < d->oh; p++)
                for (int64_t q = 0; q < d->ow; q++) {
                    const int32_t sum = kept(sum_of(d, args, (int64_t[4]){n, k, p, q}));
                    const int64_t at = ((n * d->oc + k) * d->oh + p) * d->ow + q;
                    const float v = (float)sum * scale_of(d, args, k);
                    y[at] = stored(d, rounded(d, finished(d, args->z, at, v)));
                }
    return CNN_OK;
}

static const cnn_algorithm algorithms[] = {{"loops", "one output after the other", 1u << CNN_OP_CONV,
                                            CNN_ALGO_DETERMINISTIC | CNN_ALGO_QUANTIZED_EPILOGUES, 1, 0}};
static const cnn_operations ops = {.struct_size = sizeof(cnn_operations), .conv_fwd = quantized_conv};

static const cnn_impl impl = {
    .abi_version = CNN_ABI_VERSION,
    .struct_size = sizeof(cnn_impl),
    .name = "quantized",
    .doc = "convolution forward on integers, with quantized results",
    .device_kind = CNN_DEVICE_CPU,
    .algorithms = algorithms,
    .n_algorithms = 1,
    .open = quantized_open,
    .close = quantized_close,
    .supports = quantized_supports,
    .ops = &ops,
    .dtypes = 1u << CNN_U8_S8_U8 | 1u << CNN_U8_S8_S8 | 1u << CNN_S8_S8_S8 | 1u << CNN_S8_S8_U8,
};

const cnn_impl *cnn_plugin(void) { return &impl; }
