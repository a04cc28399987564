/* mine.c: the folder to copy: an implementation of your own, here convolution forward in plain C.
 *
 *   make && benchcnn verify --plugin ./libmine.so --impl mine --op conv --dir FWD
 *
 * What to change: the name, the algorithms, supports() so that it lets through what your kernel does and nothing else,
 * and the kernel. The harness allocates every buffer, calls supports() before anything else, and then believes it. */
#include <cnn.h>

#include <stdlib.h>

struct cnn_context {
    int threads; /* yours to use; here there is one */
};

static cnn_status mine_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    *context = malloc(sizeof **context);
    if (*context == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context");
    (*context)->threads = params->threads;
    return CNN_OK;
}

static void mine_close(cnn_context *context) { free(context); }

/* The only gate: CNN_OK, or CNN_UNSUPPORTED and why. Start narrow; every line that you remove, verify will try. */
static cnn_status mine_supports(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    (void)context;
    const cnn_conv_desc *d = &request->problem->u.conv;
    if (request->problem->op != CNN_OP_CONV || request->dir != CNN_FWD)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "mine does convolution, direction FWD, only");
    if (d->t.dtype != CNN_F32 || d->t.math != CNN_MATH_F32 || d->t.layout != CNN_NCHW)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "mine computes in f32, in layout NCHW, only");
    if (d->flip) return CNN_FAIL(err, CNN_UNSUPPORTED, "mine does not flip the kernel");
    return CNN_OK;
}

/* One output element. x is [mb][ic][ih][iw], w [oc][ic/g][kh][kw]; a tap advances dh + 1 rows, dw + 1 columns. */
static float at(const cnn_conv_desc *d, const float *x, const float *w, int64_t n, int64_t k, int64_t oh, int64_t ow)
{
    const int64_t channels = d->ic / d->g, first = k / (d->oc / d->g) * channels;
    float sum = 0;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t kh = 0; kh < d->kh; kh++)
            for (int64_t kw = 0; kw < d->kw; kw++) {
                const int64_t h = oh * d->sh - d->ph + kh * (d->dh + 1), v = ow * d->sw - d->pw + kw * (d->dw + 1);
                if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) continue; /* padding */
                sum += x[((n * d->ic + first + c) * d->ih + h) * d->iw + v] *
                       w[((k * channels + c) * d->kh + kh) * d->kw + kw];
            }
    return sum;
}

/* y = beta * y + conv(x, w) + b. With beta 0, y may hold anything, NaN too: do not read it. */
static cnn_status mine_conv_fwd(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args,
                                cnn_error *err)
{
    (void)context, (void)err;
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const float *b = args->b; /* NULL: without bias */
    float *y = args->y;
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t k = 0; k < d->oc; k++)
            for (int64_t h = 0; h < d->oh; h++)
                for (int64_t v = 0; v < d->ow; v++) {
                    const int64_t i = ((n * d->oc + k) * d->oh + h) * d->ow + v;
                    const float sum = at(d, args->x, args->w, n, k, h, v) + (b != NULL ? b[k] : 0);
                    y[i] = args->beta != 0 ? y[i] + sum : sum;
                }
    return CNN_OK;
}

static const cnn_algorithm algorithms[] = {
    {.name = "loops",
     .doc = "one output element after the other",
     .ops = 1u << CNN_OP_CONV,
     .flags = CNN_ALGO_DETERMINISTIC,
     .amplification = 1}, /* plain sums of products: the strictest bound */
};

/* What it can compute. More operations are more lines here: .conv_bwd_data, .fc_fwd, ... */
static const cnn_operations ops = {
    .struct_size = sizeof(cnn_operations),
    .conv_fwd = mine_conv_fwd,
};

static const cnn_impl impl = {
    .abi_version = CNN_ABI_VERSION,
    .struct_size = sizeof(cnn_impl),
    .name = "mine",
    .doc = "convolution forward, as plain as can be",
    .device_kind = CNN_DEVICE_CPU,
    .algorithms = algorithms,
    .n_algorithms = sizeof algorithms / sizeof algorithms[0],
    .open = mine_open,
    .close = mine_close,
    .supports = mine_supports,
    .ops = &ops,
};

const cnn_impl *cnn_plugin(void) { return &impl; }
