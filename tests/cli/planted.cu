/* planted.cu: planted.c on a GPU: convolution forward, one thread an output, and the same with so many per cent more
 * work. A call makes all its sums a hundred times, and stores them each time: 2 % more are two times more, of each
 * thread alike. All but the first time finds its operands in the nearest caches, so the share holds for the time, too,
 * but for what a launch takes. The problem is to have no more threads than the device has room for at once: the last
 * ones of many would take longer beside an idle device.
 *
 *   nvcc -O3 -arch=native -Xcompiler -fPIC,-fvisibility=hidden -shared -I. -Iharness -Itests/cheats -o planted.so FILE
 *
 * The device's part is the honest one of the museum of cheats. */
#include "shared/cuda.h"

enum { PLAIN, SAME, PLUS_2, PLUS_5, PLUS_300, ALGORITHMS, TIMES = 100 };
static const int percent[ALGORITHMS] = {0, 0, 2, 5, 300};

#define LOOPS(name, doc)                                                                                               \
    {                                                                                                                  \
        name, doc, 1u << CNN_OP_CONV, CNN_ALGO_DETERMINISTIC, 1, 0                                                     \
    }
static const cnn_algorithm algorithms[ALGORITHMS] = {
    LOOPS("plain", "the defining loops, a hundred times"), LOOPS("same", "the same once more"),
    LOOPS("plus2", "two times more"), LOOPS("plus5", "five times more"), LOOPS("plus300", "three hundred times more")};

struct planted_kernel {
    cnn_conv_desc d;
    const float *x, *w, *b;
    float *y;
    bool add;
    int times;

    __device__ float sum_of(int n, int k, int oh, int ow) const
    {
        const int channels = (int)(d.ic / d.g), first = k / (int)(d.oc / d.g) * channels;
        const int ih = (int)d.ih, iw = (int)d.iw, kernel_h = (int)d.kh, kernel_w = (int)d.kw;
        float sum = b != NULL ? b[k] : 0;
        for (int c = 0; c < channels; c++)
            for (int i = 0; i < kernel_h; i++)
                for (int j = 0; j < kernel_w; j++) {
                    const int h = oh * (int)d.sh - (int)d.ph + i * ((int)d.dh + 1);
                    const int v = ow * (int)d.sw - (int)d.pw + j * ((int)d.dw + 1);
                    if (h < 0 || h >= ih || v < 0 || v >= iw) continue;
                    sum += x[((n * (int)d.ic + first + c) * ih + h) * iw + v] *
                           w[((k * channels + c) * kernel_h + i) * kernel_w + j];
                }
        return sum;
    }

    /* Each time stores: the compiler can leave out none, and what x and w hold may be what was stored. */
    __device__ void operator()(int64_t i) const
    {
        const int ow = (int)(i % d.ow), oh = (int)(i / d.ow % d.oh);
        const int k = (int)(i / d.ow / d.oh % d.oc), n = (int)(i / d.ow / d.oh / d.oc);
        volatile float *to = y + i;
        const float before = add ? *to : 0;
        for (int t = 0; t < times; t++) *to = before + sum_of(n, k, oh, ow);
    }
};

static cnn_status planted_supports(cnn_context *, const cnn_request *request, cnn_error *err)
{
    const cnn_conv_desc *d = &request->problem->u.conv;
    if (request->problem->op != CNN_OP_CONV || request->dir != CNN_FWD)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "planted does convolution, direction FWD, only");
    if (d->t.dtype != CNN_F32 || d->t.math != CNN_MATH_F32 || d->t.layout != CNN_NCHW || d->flip)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "planted computes in f32, in layout NCHW, unflipped, only");
    if (x_count(d) > INT32_MAX || w_count(d) > INT32_MAX || y_count(d) > INT32_MAX)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "planted counts elements in 32 bits");
    return CNN_OK;
}

static cnn_status planted_fwd(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    int which = 0;
    while (which < ALGORITHMS - 1 && strcmp(plan->algorithm.name, algorithms[which].name) != 0) which++;
    const planted_kernel kernel = {plan->problem.u.conv,
                                   static_cast<const float *>(a->x),
                                   static_cast<const float *>(a->w),
                                   static_cast<const float *>(a->b),
                                   static_cast<float *>(a->y),
                                   a->beta != 0,
                                   TIMES + percent[which]};
    return launch_on(c->stream, kernel, y_count(&kernel.d), err);
}

extern "C" CNN_PLUGIN const cnn_impl *cnn_plugin(void)
{
    static tables all;
    if (all.impl.name != NULL) return &all.impl;
    honest_tables(&all, "planted");
    all.impl.doc = "slowdowns that are known";
    all.impl.algorithms = algorithms, all.impl.n_algorithms = ALGORITHMS;
    all.impl.supports = planted_supports;
    all.ops = {};
    all.ops.struct_size = sizeof all.ops, all.ops.conv_fwd = planted_fwd;
    join(&all);
    return &all.impl;
}
