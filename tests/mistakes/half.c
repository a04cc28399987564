/* half.c: a plug-in as kernel.c, for f16 and bf16: products and sums in f32, rounded once. It is right as it stands;
 * each mistake of `half.mutants` is one change in it. */
#include <cnn.h>
#include <cnn/half.h>
#include <cpu/half.h>

#include <stdlib.h>

struct cnn_context {
    int threads;
};

static cnn_status half_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    *context = malloc(sizeof **context);
    if (*context == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context");
    (*context)->threads = params->threads;
    return CNN_OK;
}

static void half_close(cnn_context *context) { free(context); }

static cnn_status half_supports(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    (void)context;
    const cnn_conv_desc *d = &request->problem->u.conv;
    if (request->problem->op != CNN_OP_CONV || request->dir != CNN_FWD)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "half does convolution, direction FWD, only");
    if (d->t.layout != CNN_NCHW || d->flip)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "half computes cross-correlation in layout NCHW only");
    return CNN_OK;
}

static float stored(cnn_dtype dtype, float value)
{
    return dtype == CNN_F16 ? half_f16_to_float(half_float_to_f16(value))
                            : half_bf16_to_float(half_float_to_bf16(value));
}

static float number(const cnn_conv_desc *d, const void *array, int64_t at)
{
    const uint16_t code = ((const uint16_t *)array)[at];
    return d->t.dtype == CNN_F16 ? half_f16_to_float(code) : half_bf16_to_float(code);
}

static void put(const cnn_conv_desc *d, void *array, int64_t at, float value)
{
    cnn_number_put(d->t.dtype, array, at, value);
}

/* The products of output (n, k, p, q). */
static float sum_of(const cnn_conv_desc *d, const void *x, const void *w, int64_t n, int64_t k, int64_t p, int64_t q)
{
    const int64_t channels = d->ic / d->g, first = k / (d->oc / d->g) * channels;
    float sum = 0;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t i = 0; i < d->kh; i++)
            for (int64_t j = 0; j < d->kw; j++) {
                const int64_t h = p * d->sh - d->ph + i * (d->dh + 1), v = q * d->sw - d->pw + j * (d->dw + 1);
                if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) continue;
                const float a = number(d, x, ((n * d->ic + first + c) * d->ih + h) * d->iw + v);
                const float product = a * number(d, w, ((k * channels + c) * d->kh + i) * d->kw + j);
                sum += product;
            }
    return sum;
}

static cnn_status half_conv(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    (void)context, (void)err;
    const cnn_conv_desc *d = &plan->problem.u.conv;
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t k = 0; k < d->oc; k++)
            for (int64_t p = 0; p < d->oh; p++)
                for (int64_t q = 0; q < d->ow; q++) {
                    const int64_t at = ((n * d->oc + k) * d->oh + p) * d->ow + q;
                    float sum = sum_of(d, args->x, args->w, n, k, p, q);
                    if (args->b != NULL) sum += number(d, args->b, k);
                    if (args->beta != 0) sum += number(d, args->y, at);
                    put(d, args->y, at, sum);
                }
    return CNN_OK;
}

static const cnn_algorithm algorithms[] = {
    {"loops", "one output after the other", 1u << CNN_OP_CONV, CNN_ALGO_DETERMINISTIC, 1, 0}};
static const cnn_operations ops = {.struct_size = sizeof(cnn_operations), .conv_fwd = half_conv};

static const cnn_impl impl = {
    .abi_version = CNN_ABI_VERSION,
    .struct_size = sizeof(cnn_impl),
    .name = "half",
    .doc = "convolution forward in types of 16 bits",
    .device_kind = CNN_DEVICE_CPU,
    .algorithms = algorithms,
    .n_algorithms = 1,
    .open = half_open,
    .close = half_close,
    .supports = half_supports,
    .ops = &ops,
    .dtypes = 1u << CNN_F16 | 1u << CNN_BF16,
};

const cnn_impl *cnn_plugin(void) { return &impl; }
