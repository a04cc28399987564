/* loops.cu: the convolution of three dimensions: one thread a result, the defining loops, in all directions.
 *
 * Idea: y, dx, dw and db are sums of their own; a thread makes one, in a fixed order (deterministic): BWD_D asks of
 * each tap which output reads this pixel by it, in place of scattering.
 * Expected bottleneck: as of version 1 of the plane: comparisons and 64-bit addresses at every tap, of now three axes,
 * and in BWD_W too few threads. */
#include "harness/cuda/epilogue.h"
#include "impl_cuda_naive/shape.h"

/* `plane` counts rows of all depths together: its ih is id * ih, oh and kh likewise. */
struct deep_shape {
    conv_shape<int64_t> plane;
    int64_t id, od, kd, ih, oh, kh; /* rows of one depth */
    int64_t sd, pd, dd;             /* dd: from tap to tap */
};

struct deep_place { /* element (n, c, z, h, w) */
    int64_t n, c, z, h, w;
};

static __device__ inline deep_place place_of(int64_t e, int64_t c, int64_t depth, int64_t rows, int64_t cols)
{
    deep_place at;
    at.w = e % cols;
    at.h = e / cols % rows;
    at.z = e / (cols * rows) % depth;
    at.c = e / (cols * rows * depth) % c;
    at.n = e / (cols * rows * depth * c);
    return at;
}

static __device__ inline bool inside(int64_t at, int64_t size) { return at >= 0 && at < size; }

/* The output that reads pixel `at` by a tap that lies `shift` from its start; -1: none. */
static __device__ inline int64_t read_by(int64_t at, int64_t shift, int64_t stride, int64_t outputs)
{
    const int64_t distance = at - shift;
    return distance >= 0 && distance % stride == 0 && distance / stride < outputs ? distance / stride : -1;
}

template <typename T>
static __device__ inline cuda_real<T> weight(const conv_shape<int64_t> &s, const T *w, int64_t k, int64_t c, int64_t i,
                                             int64_t j)
{
    return cuda_load(w[s.w.first + k * s.w.k + c * s.w.c + i * s.w.i + j * s.w.j]);
}

template <typename T, typename R>
static __global__ void fwd_loops(deep_shape d, const T *x, const T *w, const R *b, R *y, cuda_epilogue<R> epilogue)
{
    const conv_shape<int64_t> &s = d.plane;
    const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= s.mb * s.oc * s.oh * s.ow) return;
    const deep_place o = place_of(e, s.oc, d.od, d.oh, s.ow);
    const int64_t first = o.c / s.group_oc * s.group_ic;
    cuda_real<T> sum = b != NULL ? cuda_load(b[o.c]) : 0;
    for (int64_t c = 0; c < s.group_ic; c++)
        for (int64_t i = 0; i < s.kh; i++) {
            const int64_t z = o.z * d.sd + i / d.kh * d.dd - d.pd, h = o.h * s.sh + i % d.kh * s.dh - s.ph;
            if (!inside(z, d.id) || !inside(h, d.ih)) continue;
            const T *row = x + o.n * s.x.n + (first + c) * s.x.c + (z * d.ih + h) * s.x.h;
            for (int64_t j = 0; j < s.kw; j++) {
                const int64_t v = o.w * s.sw + j * s.dw - s.pw;
                if (inside(v, s.iw)) sum += weight(s, w, o.c, c, i, j) * cuda_load(row[v * s.x.w]);
            }
        }
    epilogue.put(y, o.n * s.y.n + o.c * s.y.c + (o.z * d.oh + o.h) * s.y.h + o.w * s.y.w, sum);
}

template <typename T, typename R>
static __global__ void bwd_d_loops(deep_shape d, const T *dy, const T *w, R *dx, bool add)
{
    const conv_shape<int64_t> &s = d.plane;
    const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= s.mb * s.ic * s.ih * s.iw) return;
    const deep_place at = place_of(e, s.ic, d.id, d.ih, s.iw);
    const int64_t first = at.c / s.group_ic * s.group_oc, c = at.c % s.group_ic;
    cuda_real<T> sum = 0;
    for (int64_t k = first; k < first + s.group_oc; k++)
        for (int64_t i = 0; i < s.kh; i++) {
            const int64_t z = read_by(at.z, i / d.kh * d.dd - d.pd, d.sd, d.od);
            const int64_t p = read_by(at.h, i % d.kh * s.dh - s.ph, s.sh, d.oh);
            if (z < 0 || p < 0) continue;
            const T *row = dy + at.n * s.y.n + k * s.y.c + (z * d.oh + p) * s.y.h;
            for (int64_t j = 0; j < s.kw; j++) {
                const int64_t q = read_by(at.w, j * s.dw - s.pw, s.sw, s.ow);
                if (q >= 0) sum += weight(s, w, k, c, i, j) * cuda_load(row[q * s.y.w]);
            }
        }
    R *out = &dx[at.n * s.x.n + at.c * s.x.c + (at.z * d.ih + at.h) * s.x.h + at.w * s.x.w];
    cuda_put(out, sum, add);
}

/* dw[k][c][i][j], or with c below 0 db[k]. */
template <typename T>
static __device__ cuda_real<T> sum_outputs(const deep_shape &d, const T *x, const T *dy, int64_t k, int64_t c,
                                           int64_t i, int64_t j)
{
    const conv_shape<int64_t> &s = d.plane;
    const int64_t channel = k / s.group_oc * s.group_ic + c;
    cuda_real<T> sum = 0;
    for (int64_t n = 0; n < s.mb; n++)
        for (int64_t p = 0; p < s.oh; p++) {
            const int64_t z = p / d.oh * d.sd + i / d.kh * d.dd - d.pd, h = p % d.oh * s.sh + i % d.kh * s.dh - s.ph;
            const T *row = dy + n * s.y.n + k * s.y.c + p * s.y.h;
            if (c >= 0 && (!inside(z, d.id) || !inside(h, d.ih))) continue;
            for (int64_t q = 0; q < s.ow; q++) {
                const int64_t v = q * s.sw + j * s.dw - s.pw;
                if (c < 0)
                    sum += cuda_load(row[q * s.y.w]);
                else if (inside(v, s.iw))
                    sum += cuda_load(x[n * s.x.n + channel * s.x.c + (z * d.ih + h) * s.x.h + v * s.x.w]) *
                           cuda_load(row[q * s.y.w]);
            }
        }
    return sum;
}

/* Behind the last weight, a thread a bias. */
template <typename T, typename R>
static __global__ void bwd_w_loops(deep_shape d, const T *x, const T *dy, R *dw, R *db, bool add)
{
    const conv_shape<int64_t> &s = d.plane;
    const int64_t filter = s.group_ic * s.kh * s.kw, weights = s.oc * filter;
    const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= weights + (db != NULL ? s.oc : 0)) return;
    const bool bias = e >= weights;
    const int64_t j = e % s.kw, i = e / s.kw % s.kh, c = e / (s.kh * s.kw) % s.group_ic, k = e / filter;
    const cuda_real<T> sum = bias ? sum_outputs(d, x, dy, e - weights, -1, 0, 0) : sum_outputs(d, x, dy, k, c, i, j);
    R *out = bias ? &db[e - weights] : &dw[s.w.first + k * s.w.k + c * s.w.c + i * s.w.i + j * s.w.j];
    cuda_put(out, sum, add);
}

/* ---- From the problem to a launch. */

static deep_shape shape_of(const cnn_problem *p)
{
    const cnn_conv_desc d = cnn_with_depth(p);
    cnn_conv_desc plane = d;
    plane.ih *= d.id, plane.oh *= d.od, plane.kh *= d.kd;
    return {conv_shape_of<int64_t>(&plane), d.id, d.od, d.kd, d.ih, d.oh, d.kh, d.sd, d.pd, d.dd + 1};
}

static cnn_status fit(const cuda_context *, const cnn_request *r, naive_launch *l, cnn_error *)
{
    const conv_shape<int64_t> s = shape_of(r->problem).plane;
    const int64_t weights = s.oc * s.group_ic * s.kh * s.kw + (r->problem->u.conv.bias ? s.oc : 0);
    const int64_t results = r->dir == CNN_FWD     ? s.mb * s.oc * s.oh * s.ow
                            : r->dir == CNN_BWD_D ? s.mb * s.ic * s.ih * s.iw
                                                  : weights;
    l->block[0] = r->knobs[NAIVE_KNOB_V1_THREADS];
    l->grid[0] = ceil_div(results, l->block[0]);
    return CNN_OK;
}

static cnn_status run_fwd(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return NAIVE_LAUNCH(context, plan, err, fwd_loops, shape_of(&plan->problem), a->x, a->w, a->b, a->y,
                        cuda_epilogue_of<R>(plan, a));
}

static cnn_status run_bwd_d(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return NAIVE_LAUNCH(context, plan, err, bwd_d_loops, shape_of(&plan->problem), a->dy, a->w, a->dx, a->beta != 0);
}

static cnn_status run_bwd_w(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return NAIVE_LAUNCH(context, plan, err, bwd_w_loops, shape_of(&plan->problem), a->x, a->dy, a->dw, a->db,
                        a->beta != 0);
}

const naive_kernel naive_fwd_loops = {"fwd_loops", fit, run_fwd};
const naive_kernel naive_bwd_d_loops = {"bwd_d_loops", fit, run_bwd_d};
const naive_kernel naive_bwd_w_loops = {"bwd_w_loops", fit, run_bwd_w};
