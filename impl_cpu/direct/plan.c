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

/* Lists of taps: number l < lists has each e < each for which from = (l*of_list + e*of_tap + first) / stride is one of
 * the `size` positions that are read. Output o reads input o*s - p + i*(d + 1) with tap i. */
static direct_taps list_taps(int64_t lists, int64_t each, int64_t size, int64_t of_list, int64_t of_tap, int64_t first,
                             int64_t stride, cpu_arena *arena)
{
    direct_taps t;
    int64_t n = 0;
    t.start = cpu_take(arena, lists + 1, 1, sizeof *t.start);
    t.e = cpu_take(arena, lists, each, sizeof *t.e);
    if (arena->base == NULL) return t;
    for (int64_t l = 0; l < lists; l++) {
        t.start[l] = n;
        for (int64_t e = 0; e < each; e++) {
            const int64_t from = l * of_list + e * of_tap + first;
            if (from >= 0 && from % stride == 0 && from / stride < size) t.e[n++] = (direct_tap){e, from / stride};
        }
    }
    t.start[lists] = n;
    return t;
}

direct_gather direct_gather_of(const cnn_conv_desc *c, bool forward, int lanes, cpu_arena *arena)
{
    const int64_t icg = c->ic / c->g, ocg = c->oc / c->g, taps = c->kh * c->kw;
    const int64_t in_h = forward ? c->ih : c->oh, in_w = forward ? c->iw : c->ow;
    direct_gather j = {.out_w = forward ? c->ow : c->iw, .kh = c->kh, .kw = c->kw, .flip = c->flip, .in_w = in_w};
    j.k = forward ? icg : ocg;
    j.w_u = forward ? icg * taps : taps;
    j.w_k = forward ? taps : icg * taps;
    j.w_group = ocg * icg * taps;
    j.in_k = in_h * in_w * lanes;
    j.in_group = j.k * j.in_k;
    j.in_block = c->g * j.in_group;
    if (forward) { /* for each output the taps, and the inputs they read */
        j.rows = list_taps(c->oh, c->kh, c->ih, c->sh, c->dh + 1, -c->ph, 1, arena);
        j.cols = list_taps(c->ow, c->kw, c->iw, c->sw, c->dw + 1, -c->pw, 1, arena);
    } else { /* for each input the taps, and the outputs that read it with them */
        j.rows = list_taps(c->ih, c->kh, c->oh, 1, -c->dh - 1, c->ph, c->sh, arena);
        j.cols = list_taps(c->iw, c->kw, c->ow, 1, -c->dw - 1, c->pw, c->sw, arena);
    }
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
    j.rows = list_taps(c->kh, c->oh, c->ih, c->dh + 1, c->sh, -c->ph, 1, arena);
    j.cols = list_taps(c->kw, c->ow, c->iw, c->dw + 1, c->sw, -c->pw, 1, arena);
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
