/* plan.c: what cpu:bf16 takes, which kernel, and what lies where. */
#include "bf16.h"
#include "harness/cnn/half.h"
#include "impl_cpu/amx/amx.h"

static const bf_kernel *kernel_for(const cpu_context *cpu, const int64_t *knobs)
{
    if (knobs[CPU_KNOB_AMX] == AMX_IMITATED) return &bf_amx_imitated;
#if defined(__x86_64__)
    const bool own = cpu->isa == CPU_ISA_AVX512 && knobs[CPU_KNOB_BF16] != 0;
    if (own && knobs[CPU_KNOB_AMX] == AMX_YES && cpu_may_use_amx()) return &bf_amx;
    if (cpu->isa == CPU_ISA_AVX512) return knobs[CPU_KNOB_BF16] != 0 && cpu_has_bf16() ? &bf_avx512_bf16 : &bf_avx512;
    if (cpu->isa == CPU_ISA_AVX2) return &bf_avx2;
#endif
    (void)cpu, (void)knobs;
    return &bf_base;
}

/* A convolution without depth. An FC layer whose images lie in the order of the weights is one of 1x1, whose pixels are
 * images; another one has a kernel as large as the image, and as it has one result, any stride: that of its size gives
 * each pixel of BWD_D a phase of its own. 1x1 kernels know no rows. */
static cnn_conv_desc normal(const cnn_problem *problem)
{
    if (problem->op != CNN_OP_FC) {
        cnn_conv_desc d = problem->u.conv;
        if (d.kh != 1 || d.kw != 1 || d.sh != 1 || d.sw != 1 || d.oh != d.ih || d.ow != d.iw || d.ph + d.pw != 0)
            return d;
        d.iw = d.ow = d.ih * d.iw, d.ih = d.oh = 1;
        return d;
    }
    cnn_conv_desc d = cnn_fc_as_conv(&problem->u.fc);
    if (d.t.layout == CNN_NHWC && d.ih * d.iw > 1) {
        d.sh = d.ih, d.sw = d.iw;
        return d;
    }
    d.t.layout = CNN_NHWC;
    d.ic *= d.ih * d.iw;
    d.iw = d.ow = d.mb;
    d.mb = d.ih = d.kh = d.kw = 1;
    return d;
}

static bf_axis axis_of(bool back, int64_t in, int64_t out, int64_t taps, int64_t stride, int64_t pad, int64_t step)
{
    bf_axis a = {.back = back, .taps = taps, .stride = stride, .pad = pad, .step = step, .in = in, .out = out};
    int64_t last = (out - 1) * stride + (taps - 1) * step - pad;
    a.first = -pad, a.phases = 1;
    if (back) {
        a.in = out, a.out = in;
        a.first = cpu_ceil_div(pad - (taps - 1) * step, stride), last = (in - 1 + pad) / stride;
        a.phases = cpu_min(stride, in);
    }
    a.size = cpu_max(1, last - a.first + 1);
    return a;
}

static bool is_inside(const bf_axis *a) { return a->first >= 0 && a->first + a->size <= a->in; }

/* FWD and BWD_D: what rows are read of. */
static void find_image(bf_job *t)
{
    const cnn_conv_desc *d = &t->d;
    const bool back = t->dir == CNN_BWD_D;
    t->in = (back ? d->oc : d->ic) / d->g;
    t->padded = cpu_ceil_div(t->in, 2) * 2;
    t->channels = t->padded * d->g;
    t->terms = t->taps * t->padded / 2;
    t->y = axis_of(back, d->ih, d->oh, d->kh, d->sh, d->ph, d->dh + 1);
    t->x = axis_of(back, d->iw, d->ow, d->kw, d->sw, d->pw, d->dw + 1);
    t->copied = d->t.layout != CNN_NHWC || t->padded != t->in || !is_inside(&t->y) || !is_inside(&t->x);
    t->pitch = t->copied ? t->x.size : t->x.in;
    t->image = t->pitch * (t->copied ? t->y.size : t->y.in);
}

/* BWD_W: rows of x, a plane for each channel; x itself will do where nothing is outside, and rows are whole pairs. */
static void find_columns(bf_job *t)
{
    enum { PIXELS = 2048 };
    const cnn_conv_desc *d = &t->d;
    const int64_t down = (d->oh - 1) * d->sh + (d->kh - 1) * (d->dh + 1) + 1, right = (d->kw - 1) * (d->dw + 1);
    t->pairs = cpu_ceil_div(d->ow, 2);
    t->images = cpu_clamp(cpu_ceil_div(PIXELS, d->oh * d->ow), 1, d->mb);
    t->terms = t->images * d->oh * t->pairs;
    t->copied = d->t.layout != CNN_NCHW || d->sw != 1 || d->ow % 2 != 0 || d->ph != 0 || d->pw != 0 || down > d->ih ||
                d->ow + right > d->iw;
    t->paired = !t->kernel->runs && d->t.layout == CNN_NHWC && t->taps == 1 && d->ph == 0 && d->pw == 0 &&
                down <= d->ih && (d->ow - 1) * d->sw < d->iw;
    t->height = t->copied ? down : d->ih;
    t->parts = t->copied ? d->sw : 1;
    t->length =
        t->copied ? 2 * t->pairs + (right / d->sw + 2) / 2 * 2 : d->iw; /* even, and one more: pairs are written */
}

bf_job bf_job_of(const cpu_context *cpu, const cnn_problem *problem, cnn_dir dir, const int64_t *knobs)
{
    bf_job t = {.d = normal(problem), .dir = dir, .kernel = kernel_for(cpu, knobs)};
    const cnn_conv_desc *d = &t.d;
    t.taps = d->kh * d->kw;
    t.out = (dir == CNN_BWD_D ? d->ic : d->oc) / d->g;
    t.vectors = cpu_ceil_div(t.out, t.kernel->lanes);
    t.panels = cpu_ceil_div(t.vectors, t.kernel->vectors);
    if (dir == CNN_BWD_W)
        find_columns(&t);
    else
        find_image(&t);
    return t;
}

/* A task packs rows, if not in place, once for all panels: so many as the second-level cache holds beside one of these.
 */
static int64_t packed_rows(const bf_job *t)
{
    enum { BYTES = 768 << 10 };
    if (t->kernel->pack == NULL || t->panels == 1) return 0;
    const int64_t rows = BYTES / amx_packed_bytes(AMX_PIXELS, t->terms) * AMX_PIXELS;
    return cpu_min(rows, t->kernel->rows);
}

void bf_lay_out(const cpu_context *cpu, bf_job *t, cpu_arena *arena)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t lanes = t->kernel->lanes, numbers = t->terms * 2, of_lanes = d->g * t->vectors * lanes;
    t->w = cpu_take(arena, of_lanes, numbers, sizeof *t->w);
    t->packed_rows = packed_rows(t);
    t->packed_each = amx_packed_bytes(t->packed_rows, t->terms);
    t->packed = cpu_take(arena, cpu->threads, t->packed_each, 1);
    if (t->dir == CNN_BWD_W) {
        const int64_t rows = t->paired ? t->images * d->oh : t->images * d->ic * t->height;
        const int64_t each = t->paired ? 2 * t->pairs * d->ic : t->parts * t->length;
        t->copy = cpu_take(arena, t->copied ? rows : 0, each, sizeof *t->copy);
        t->list = cpu_take(arena, t->images, d->oh, sizeof *t->list);
        t->tap_at = cpu_take(arena, t->taps, 1, sizeof *t->tap_at);
        t->sums = cpu_take(arena, t->images < d->mb ? of_lanes : 0, d->ic / d->g * t->taps, sizeof *t->sums);
        return;
    }
    t->copy = cpu_take(arena, t->copied ? d->mb * t->image : 0, t->channels, sizeof *t->copy);
    t->list = cpu_take(arena, t->taps, 1, sizeof *t->list);
    t->place_of = cpu_take(arena, t->taps, 1, sizeof *t->place_of);
    t->phase = cpu_take(arena, t->y.phases * t->x.phases + 1, 1, sizeof *t->phase);
    t->right = cpu_take(arena, t->x.out, 1, sizeof *t->right);
    cpu_arena piece = {.base = NULL};
    cpu_take(&piece, BF_SCRATCH + (BF_VECTORS + 1) * lanes * t->taps * (t->taps > 1), 1, 2 * sizeof *t->w);
    t->scratch_each = piece.used;
    t->scratch = cpu_take(arena, cpu->threads, t->scratch_each, 1);
    arena->overflow |= piece.overflow;
}

/* Products of an axis: those with a number of x, and all that are computed, with zeros beyond its ends too. */
typedef struct axis_products {
    double useful, all;
} axis_products;

static axis_products products_of(bool back, int64_t in, int64_t out, int64_t taps, int64_t stride, int64_t pad,
                                 int64_t step)
{
    axis_products p = {.all = back ? (double)in * (double)cpu_ceil_div(taps, stride) : (double)out * (double)taps};
    for (int64_t tap = 0; tap < taps; tap++) {
        const int64_t first = cpu_max(0, cpu_ceil_div(pad - tap * step, stride)), last = in - 1 + pad - tap * step;
        if (last >= 0) p.useful += (double)cpu_max(0, cpu_min(out, last / stride + 1) - first);
    }
    return p;
}

/* A kernel far larger than the image, say, is multiplied by zeros most of the time. */
static cnn_status check_products(const bf_job *t, cnn_error *err)
{
    const double most = 64.0, few = 0x1p30;
    const cnn_conv_desc *d = &t->d;
    const bool back = t->dir == CNN_BWD_D;
    const axis_products y = products_of(back, d->ih, d->oh, d->kh, d->sh, d->ph, d->dh + 1),
                        x = products_of(back, d->iw, d->ow, d->kw, d->sw, d->pw, d->dw + 1);
    const double each = (double)d->mb * (double)d->oc * (double)(d->ic / d->g), all = each * y.all * x.all;
    if (all <= few || y.all * x.all <= most * y.useful * x.useful) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "%.3g of %.3g products would be by zeros around the images",
                    all - each * y.useful * x.useful, all);
}

/* Zeros around an image, or within what has a stride, are worth some memory, not any. */
static cnn_status check(const bf_job *t, const cnn_problem *problem, cnn_error *err)
{
    const double most = 64.0, countable = 0x1p58;
    const cnn_conv_desc *d = &t->d;
    const cnn_dtype dtype = problem->u.type.dtype;
    const double images = (double)d->ih * (double)d->iw + (double)d->oh * (double)d->ow;
    double height = (double)t->y.size, width = (double)t->x.size;
    if (cnn_part_dtype(dtype, CNN_PART_FACTOR) != CNN_BF16)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s: cpu:bf16 takes bf16 and bf16:bf16:f32", cnn_dtype_name(dtype));
    if (t->dir == CNN_BWD_W) height = (double)t->height, width = (double)t->parts * (double)t->length;
    if (height * width > most * (images + 1))
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "zeros around the images: with them they have %.0f x %.0f pixels, more than %.0f times what "
                        "they and the results have",
                        height, width, most);
    const double lanes = (double)d->g * (double)t->vectors * t->kernel->lanes;
    if (lanes * (double)t->terms > countable || (double)d->mb * (double)d->ic * height * width > countable)
        return CNN_FAIL(err, CNN_OVERFLOW, "copies of the operands have no 64-bit size");
    return check_products(t, err);
}

const char *bf_choice(const cpu_context *cpu, const cnn_request *r) { return kernel_for(cpu, r->knobs)->name; }

cnn_status bf_plan(const cpu_context *cpu, const cnn_request *r, void **state, size_t *bytes, cnn_error *err)
{
    bf_job t = bf_job_of(cpu, r->problem, r->dir, r->knobs);
    cpu_arena arena = {.base = NULL};
    (void)state;
    const cnn_status status = check(&t, r->problem, err);
    if (status != CNN_OK) return status;
    bf_lay_out(cpu, &t, &arena);
    if (arena.overflow) return CNN_FAIL(err, CNN_OVERFLOW, "copies of the operands have no 64-bit size");
    *bytes = (size_t)arena.used;
    return CNN_OK;
}
