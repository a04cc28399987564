/* whole.c: a plug-in as kernel.c, for integers: u8 or s8 by s8, added up in s32. It is right as it stands; each mistake
 * of `whole.mutants` is one change in it. Two terms at a time, as processors have instructions for. */
#include <cnn.h>
#include <cnn/shape.h>

#include <stdlib.h>

struct cnn_context {
    int threads;
};

static cnn_status whole_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    *context = malloc(sizeof **context);
    if (*context == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context");
    (*context)->threads = params->threads;
    return CNN_OK;
}

static void whole_close(cnn_context *context) { free(context); }

static cnn_status whole_supports(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    (void)context;
    const cnn_conv_desc *d = &request->problem->u.conv;
    if (request->problem->op != CNN_OP_CONV) return CNN_FAIL(err, CNN_UNSUPPORTED, "whole does convolution only");
    if (d->t.layout != CNN_NCHW || d->flip)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "whole computes cross-correlation in layout NCHW only");
    return CNN_OK;
}

static int32_t pixel(const cnn_conv_desc *d, const void *x, int64_t at)
{
    if (d->t.dtype == CNN_S8_S8_S32) return ((const int8_t *)x)[at];
    return ((const uint8_t *)x)[at];
}

static int32_t weight(const void *w, int64_t at) { return ((const int8_t *)w)[at]; }

/* Two products, added up. */
static int32_t add_pair(int32_t sum, int32_t one, int32_t other) { return sum + one + other; }

/* Term t of output (n, k, p, q), in the order of the weights; 0 outside of x. */
static int32_t product(const cnn_conv_desc *d, const cnn_weighted_args *a, const int64_t at[4], int64_t t)
{
    const int64_t channels = d->ic / d->g, c = t / (d->kh * d->kw), i = t / d->kw % d->kh, j = t % d->kw;
    const int64_t h = at[2] * d->sh - d->ph + i * (d->dh + 1), v = at[3] * d->sw - d->pw + j * (d->dw + 1);
    if (t >= channels * d->kh * d->kw || h < 0 || h >= d->ih || v < 0 || v >= d->iw) return 0;
    const int64_t first = at[1] / (d->oc / d->g) * channels;
    return pixel(d, a->x, ((at[0] * d->ic + first + c) * d->ih + h) * d->iw + v) *
           weight(a->w, at[1] * channels * d->kh * d->kw + t);
}

static int32_t sum_of(const cnn_conv_desc *d, const cnn_weighted_args *a, const int64_t at[4])
{
    const int64_t terms = d->ic / d->g * d->kh * d->kw;
    int32_t sum = 0;
    for (int64_t t = 0; t < terms; t += 2) sum = add_pair(sum, product(d, a, at, t), product(d, a, at, t + 1));
    return sum;
}

static cnn_status whole_conv(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    (void)context, (void)err;
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const int32_t *b = args->b;
    int32_t *y = args->y;
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t k = 0; k < d->oc; k++)
            for (int64_t p = 0; p < d->oh; p++)
                for (int64_t q = 0; q < d->ow; q++) {
                    const int64_t at = ((n * d->oc + k) * d->oh + p) * d->ow + q;
                    int32_t sum = sum_of(d, args, (int64_t[4]){n, k, p, q});
                    if (b != NULL) sum += b[k];
                    if (args->beta != 0) sum += y[at];
                    y[at] = sum;
                }
    return CNN_OK;
}

static const cnn_algorithm algorithms[] = {
    {"loops", "one output after the other", 1u << CNN_OP_CONV, CNN_ALGO_DETERMINISTIC, 1, 0}};
static const cnn_operations ops = {.struct_size = sizeof(cnn_operations), .conv_fwd = whole_conv};

static const cnn_impl impl = {
    .abi_version = CNN_ABI_VERSION,
    .struct_size = sizeof(cnn_impl),
    .name = "whole",
    .doc = "convolution forward on integers",
    .device_kind = CNN_DEVICE_CPU,
    .algorithms = algorithms,
    .n_algorithms = 1,
    .open = whole_open,
    .close = whole_close,
    .supports = whole_supports,
    .ops = &ops,
    .dtypes = 1u << CNN_U8_S8_S32 | 1u << CNN_S8_S8_S32,
};

const cnn_impl *cnn_plugin(void) { return &impl; }
