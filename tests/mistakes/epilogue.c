/* epilogue.c: a plug-in that computes convolutions with an epilogue: bias, residual and activation in one kernel. It is
 * right as it stands; each mistake of `epilogue.mutants` is one change in it. */
#include <cnn.h>

#include <math.h>
#include <stdlib.h>

struct cnn_context {
    int threads;
};

static cnn_status epilogue_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    *context = malloc(sizeof **context);
    if (*context == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context");
    (*context)->threads = params->threads;
    return CNN_OK;
}

static void epilogue_close(cnn_context *context) { free(context); }

static cnn_status epilogue_supports(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    (void)context;
    const cnn_conv_desc *d = &request->problem->u.conv;
    if (request->problem->op != CNN_OP_CONV || request->dir != CNN_FWD)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "epilogue does convolution, direction FWD, only");
    if (d->t.dtype != CNN_F32 || d->t.math != CNN_MATH_F32 || d->t.layout != CNN_NCHW || d->flip)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "epilogue computes cross-correlation in f32 and NCHW only");
    return CNN_OK;
}

static float sum_of(const cnn_conv_desc *d, const float *x, const float *w, int64_t n, int64_t k, int64_t p, int64_t q)
{
    const int64_t channels = d->ic / d->g, first = k / (d->oc / d->g) * channels;
    float sum = 0;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t i = 0; i < d->kh; i++)
            for (int64_t j = 0; j < d->kw; j++) {
                const int64_t h = p * d->sh - d->ph + i * (d->dh + 1), v = q * d->sw - d->pw + j * (d->dw + 1);
                if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) continue;
                sum += x[((n * d->ic + first + c) * d->ih + h) * d->iw + v] *
                       w[((k * channels + c) * d->kh + i) * d->kw + j];
            }
    return sum;
}

static float activated(const cnn_epilogue *e, float v)
{
    const float alpha = (float)e->alpha;
    switch (e->act) {
    case CNN_ACT_RELU:
        return v <= 0 ? 0 : v;
    case CNN_ACT_LEAKY_RELU:
        return v <= 0 ? alpha * v : v;
    case CNN_ACT_CLIPPED_RELU:
        return v <= 0 ? 0 : v >= alpha ? alpha : v;
    case CNN_ACT_ELU:
        return v <= 0 ? alpha * expm1f(v) : v;
    case CNN_ACT_SELU:
        return (float)CNN_SELU_SCALE * (v <= 0 ? (float)CNN_SELU_ALPHA * expm1f(v) : v);
    case CNN_ACT_SIGMOID:
        return 1 / (1 + expf(-v));
    case CNN_ACT_TANH:
        return tanhf(v);
    case CNN_ACT_SCALE:
        return alpha * v;
    default:
        return v;
    }
}

static cnn_status epilogue_conv(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args,
                                cnn_error *err)
{
    (void)context, (void)err;
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const cnn_epilogue *e = &d->epilogue;
    const float *b = args->b, *z = args->z;
    float *y = args->y;
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t k = 0; k < d->oc; k++)
            for (int64_t p = 0; p < d->oh; p++)
                for (int64_t q = 0; q < d->ow; q++) {
                    const int64_t at = ((n * d->oc + k) * d->oh + p) * d->ow + q;
                    const float sum = sum_of(d, args->x, args->w, n, k, p, q);
                    const float bias = b ? b[k] : 0, residual = z ? z[at] : 0;
                    const float old = args->beta != 0 ? y[at] : 0;
                    y[at] = old + activated(e, sum + bias + residual);
                }
    return CNN_OK;
}

static const cnn_algorithm algorithms[] = {
    {"loops", "one output after the other", 1u << CNN_OP_CONV, CNN_ALGO_DETERMINISTIC | CNN_ALGO_EPILOGUES, 1, 0}};
static const cnn_operations ops = {.struct_size = sizeof(cnn_operations), .conv_fwd = epilogue_conv};

static const cnn_impl impl = {
    .abi_version = CNN_ABI_VERSION,
    .struct_size = sizeof(cnn_impl),
    .name = "epilogue",
    .doc = "convolution forward with an epilogue",
    .device_kind = CNN_DEVICE_CPU,
    .algorithms = algorithms,
    .n_algorithms = 1,
    .open = epilogue_open,
    .close = epilogue_close,
    .supports = epilogue_supports,
    .ops = &ops,
};

const cnn_impl *cnn_plugin(void) { return &impl; }
