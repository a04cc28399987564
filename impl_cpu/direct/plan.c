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

direct_gather direct_gather_of(const cnn_conv_desc *c, bool forward, int64_t in_w, int64_t in_k, int64_t out_w)
{
    const int64_t icg = c->ic / c->g, ocg = c->oc / c->g, taps = c->kh * c->kw;
    direct_gather j = {.out_w = out_w, .kh = c->kh, .kw = c->kw, .flip = c->flip, .in_w = in_w, .in_k = in_k};
    j.k = forward ? icg : ocg;
    j.w_u = forward ? icg * taps : taps;
    j.w_k = forward ? taps : icg * taps;
    j.w_group = ocg * icg * taps;
    j.in_group = j.k * in_k;
    j.in_block = c->g * j.in_group;
    return j;
}

direct_weights direct_weights_of(const cnn_conv_desc *c, int64_t x_w, int64_t x_c, int64_t y_h, int64_t y_w,
                                 int64_t y_o)
{
    return (direct_weights){.kh = c->kh,
                            .kw = c->kw,
                            .x_w = x_w,
                            .x_c = x_c,
                            .x_block = c->ic * x_c,
                            .y_h = y_h,
                            .y_w = y_w,
                            .y_o = y_o,
                            .y_block = c->oc * y_o};
}

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
    l->fill(run, &r->problem->u.conv);
    *state = run;
    return CNN_OK;
no_memory:
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan of the direct convolution");
}
