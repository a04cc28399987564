/* plan.c: what is found once for a problem: its kernels, the strides of its sums, the lists of its taps. */
#include "direct.h"
#include "harness/cnn/shape.h"

#include <stdlib.h>

const direct_kernels *direct_kernels_for(const cpu_context *ctx, cnn_dtype dtype)
{
#if defined(__x86_64__)
    if (ctx->isa == CPU_ISA_AVX512) return &direct_avx512[dtype];
    if (ctx->isa == CPU_ISA_AVX2) return &direct_avx2[dtype];
#endif
    (void)ctx;
    return &direct_base[dtype];
}

/* ---- Lists of taps. */

/* `lists` of `each` at most. */
static void take_taps(direct_taps *t, int64_t lists, int64_t each, cpu_arena *arena)
{
    t->start = cpu_take(arena, lists + 1, 1, sizeof *t->start);
    t->e = cpu_take(arena, lists, each, sizeof *t->e);
}

/* FWD: for each output position, the kernel taps and the input positions they read. */
static void taps_fwd(direct_taps *t, int64_t out, int64_t in, int64_t k, int64_t s, int64_t p, int64_t d)
{
    int64_t n = 0;
    for (int64_t o = 0; o < out; o++) {
        int64_t first, last;
        cnn_tap_range(o, in, k, s, p, d, &first, &last);
        t->start[o] = n;
        for (int64_t i = first; i < last; i++) t->e[n++] = (direct_tap){i, o * s - p + i * (d + 1)};
    }
    t->start[out] = n;
}

/* BWD_D: for each input position, the kernel taps and the output positions they come from. */
static void taps_bwd(direct_taps *t, int64_t in, int64_t out, int64_t k, int64_t s, int64_t p, int64_t d)
{
    int64_t n = 0;
    for (int64_t x = 0; x < in; x++) {
        t->start[x] = n;
        for (int64_t i = 0; i < k; i++) {
            int64_t from = x + p - i * (d + 1); /* = o*s where output o reads x with tap i */
            if (from >= 0 && from % s == 0 && from / s < out) t->e[n++] = (direct_tap){i, from / s};
        }
    }
    t->start[in] = n;
}

/* BWD_W: for each kernel tap, the output positions (`tap`) and the input positions (`src`) it joins. */
static void taps_weights(direct_taps *t, int64_t k, int64_t out, int64_t in, int64_t s, int64_t p, int64_t d)
{
    int64_t n = 0;
    for (int64_t i = 0; i < k; i++) {
        t->start[i] = n;
        for (int64_t o = 0; o < out; o++) {
            int64_t x = o * s - p + i * (d + 1);
            if (x >= 0 && x < in) t->e[n++] = (direct_tap){o, x};
        }
    }
    t->start[k] = n;
}

/* ---- Sums. */

direct_gather direct_gather_of(const cnn_conv_desc *c, bool forward, int lanes, cpu_arena *arena)
{
    const int64_t icg = c->ic / c->g, ocg = c->oc / c->g, taps = c->kh * c->kw;
    const int64_t in_h = forward ? c->ih : c->oh, in_w = forward ? c->iw : c->ow;
    const int64_t out_h = forward ? c->oh : c->ih, out_w = forward ? c->ow : c->iw;
    void (*const fill)(direct_taps *, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t) =
        forward ? taps_fwd : taps_bwd;
    direct_gather j = {.out_w = out_w, .kh = c->kh, .kw = c->kw, .flip = c->flip, .in_w = in_w};
    j.k = forward ? icg : ocg;
    j.w_u = forward ? icg * taps : taps;
    j.w_k = forward ? taps : icg * taps;
    j.w_group = ocg * icg * taps;
    j.in_k = in_h * in_w * lanes;
    j.in_group = j.k * j.in_k;
    j.in_block = c->g * j.in_group;
    take_taps(&j.rows, out_h, c->kh, arena);
    take_taps(&j.cols, out_w, c->kw, arena);
    if (arena->base == NULL) return j;
    fill(&j.rows, out_h, in_h, c->kh, c->sh, c->ph, c->dh);
    fill(&j.cols, out_w, in_w, c->kw, c->sw, c->pw, c->dw);
    return j;
}

direct_weights direct_weights_of(const cnn_conv_desc *c, int lanes, cpu_arena *arena)
{
    const int64_t x_c = c->ih * c->iw * lanes, y_o = c->oh * c->ow * lanes;
    direct_weights j = {.kh = c->kh,
                        .kw = c->kw,
                        .x_w = c->iw,
                        .x_c = x_c,
                        .x_block = c->ic * x_c,
                        .y_h = c->oh,
                        .y_w = c->ow,
                        .y_o = y_o,
                        .y_block = c->oc * y_o,
                        .filter = c->ic / c->g * c->kh * c->kw,
                        .flip = c->flip};
    take_taps(&j.rows, c->kh, c->oh, arena);
    take_taps(&j.cols, c->kw, c->ow, arena);
    if (arena->base == NULL) return j;
    taps_weights(&j.rows, c->kh, c->oh, c->ih, c->sh, c->ph, c->dh);
    taps_weights(&j.cols, c->kw, c->ow, c->iw, c->sw, c->pw, c->dw);
    return j;
}

/* ---- Plans. */

/* One block of whole images must be countable; the arenas check what is made of it. */
static bool countable(const cnn_conv_desc *c)
{
    const int64_t most = INT64_MAX / 4 / DIRECT_MAX_LANES / (int64_t)cnn_dtype_size(c->t.dtype);
    int64_t in, out;
    return cnn_mul4(c->mb, c->ic, c->ih, c->iw, &in) && cnn_mul4(c->mb, c->oc, c->oh, c->ow, &out) && in <= most &&
           out <= most;
}

cnn_status direct_plan(const cpu_context *cpu, const cnn_request *r, void **state, size_t *bytes, cnn_error *err)
{
    const int64_t most_kept = 1 << 30;
    const direct_layout *l = r->dir == CNN_BWD_W ? &direct_weights_layout : &direct_gather_layout;
    cpu_arena kept = {0}, workspace = {.overflow = !countable(&r->problem->u.conv)};
    void *run = malloc(l->run);
    if (!run) goto no_memory;
    cpu_take(&kept, 1, 1, l->run);
    if (!workspace.overflow) l->lay_out(cpu, r, run, &kept, &workspace);
    free(run);
    if (kept.overflow || workspace.overflow)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "the direct convolution's workspace exceeds 2^63 bytes");
    if (kept.used > most_kept) /* where kernel and image are very long */
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%lld bytes of lists of taps would be needed, more than %lld",
                        (long long)kept.used, (long long)most_kept);
    *bytes = (size_t)workspace.used;
    if (!state) return CNN_OK;
    if (!(run = malloc((size_t)kept.used))) goto no_memory;
    kept = (cpu_arena){.base = run}, workspace = (cpu_arena){0};
    cpu_take(&kept, 1, 1, l->run);
    l->lay_out(cpu, r, run, &kept, &workspace);
    *state = run;
    return CNN_OK;
no_memory:
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan of the direct convolution");
}
