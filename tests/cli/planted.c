/* planted.c: convolution forward by its definition, and the same with so many per cent more work: what `bench
 * --processes` is to find, and what it is not (plain and same are one function). Output planes are computed again from
 * the first on; of 100 planes, or a multiple, the share is exact. With $PLANTED_LOG each process appends its
 * algorithm's name and its number to that file, once. */
#include <cnn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cnn_context {
    int threads;
    int logged;
};

enum { PLAIN, SAME, PLUS_2, PLUS_5, PLUS_300, ALGORITHMS };
static const int percent[ALGORITHMS] = {0, 0, 2, 5, 300};

#define LOOPS(title, what)                                                                                             \
    {                                                                                                                  \
        .name = title, .doc = what, .ops = 1u << CNN_OP_CONV, .flags = CNN_ALGO_DETERMINISTIC, .amplification = 1      \
    }
static const cnn_algorithm algorithms[ALGORITHMS] = {
    LOOPS("plain", "the defining loops"), LOOPS("same", "the same once more"), LOOPS("plus2", "and 2 % of it again"),
    LOOPS("plus5", "and 5 % of it again"), LOOPS("plus300", "and three times all of it again")};

static cnn_status planted_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    *context = calloc(1, sizeof **context);
    if (*context == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context");
    (*context)->threads = params->threads;
    return CNN_OK;
}

static void planted_close(cnn_context *context) { free(context); }

static cnn_status planted_supports(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    (void)context;
    const cnn_conv_desc *d = &request->problem->u.conv;
    if (request->problem->op != CNN_OP_CONV || request->dir != CNN_FWD)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "planted does convolution, direction FWD, only");
    if (d->t.dtype != CNN_F32 || d->t.math != CNN_MATH_F32 || d->t.layout != CNN_NCHW || d->flip)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "planted computes in f32, in layout NCHW, unflipped, only");
    return CNN_OK;
}

static float at(const cnn_conv_desc *d, const float *x, const float *w, int64_t n, int64_t k, int64_t oh, int64_t ow)
{
    const int64_t channels = d->ic / d->g, first = k / (d->oc / d->g) * channels;
    float sum = 0;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t kh = 0; kh < d->kh; kh++)
            for (int64_t kw = 0; kw < d->kw; kw++) {
                const int64_t h = oh * d->sh - d->ph + kh * (d->dh + 1), v = ow * d->sw - d->pw + kw * (d->dw + 1);
                if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) continue;
                sum += x[((n * d->ic + first + c) * d->ih + h) * d->iw + v] *
                       w[((k * channels + c) * d->kh + kh) * d->kw + kw];
            }
    return sum;
}

static void note_process(cnn_context *context, const char *name)
{
    const char *path = getenv("PLANTED_LOG");
    FILE *file = path != NULL && !context->logged ? fopen(path, "a") : NULL;
    context->logged = 1;
    if (file == NULL) return;
    fprintf(file, "%s %ld\n", name, (long)getpid());
    fclose(file);
}

static cnn_status planted_fwd(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    (void)err;
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const float *b = args->b;
    float *y = args->y;
    int which = 0;
    while (which < ALGORITHMS - 1 && strcmp(plan->algorithm.name, algorithms[which].name) != 0) which++;
    const int64_t planes = d->mb * d->oc, size = d->oh * d->ow, again = planes * percent[which] / 100;
    note_process(context, algorithms[which].name);
    for (int64_t p = 0; p < planes + again; p++) {
        const int64_t n = p % planes / d->oc, k = p % planes % d->oc;
        for (int64_t i = 0; i < size; i++) {
            const float sum = at(d, args->x, args->w, n, k, i / d->ow, i % d->ow) + (b != NULL ? b[k] : 0);
            float *to = &y[p % planes * size + i];
            if (p >= planes && args->beta == 0)
                *(volatile float *)to = sum; /* the same once more */
            else if (p < planes)
                *to = args->beta != 0 ? *to + sum : sum;
        }
    }
    return CNN_OK;
}

static const cnn_operations ops = {.struct_size = sizeof(cnn_operations), .conv_fwd = planted_fwd};

static const cnn_impl impl = {.abi_version = CNN_ABI_VERSION,
                              .struct_size = sizeof(cnn_impl),
                              .name = "planted",
                              .doc = "slowdowns that are known",
                              .device_kind = CNN_DEVICE_CPU,
                              .algorithms = algorithms,
                              .n_algorithms = ALGORITHMS,
                              .open = planted_open,
                              .close = planted_close,
                              .supports = planted_supports,
                              .ops = &ops};

const cnn_impl *cnn_plugin(void) { return &impl; }
