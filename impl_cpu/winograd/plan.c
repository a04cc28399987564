/* plan.c: what Winograd's convolution is cut into: by the problem alone, never by the number of threads. */
#include "winograd.h"

#include <stdlib.h>

/* Tiles of a strip at most; of a block, so that its input of 64 channels stays in the second-level cache, and weights
 * that come from memory are used often enough; of a block of BWD_W, and bytes of its transforms. */
enum {
    MOST_STRIP = 16,
    BLOCK_TILES = 48,
    LEAST_TILES = 96,
    MOST_TILES = 1024,
    BLOCK_BYTES = 16 << 20,
    MOST_TASKS = 32
};

static const wino_kernels *kernels_for(const cpu_context *cpu, cnn_dtype dtype)
{
#if defined(__x86_64__)
    if (cpu->isa == CPU_ISA_AVX512) return &wino_avx512[dtype];
    if (cpu->isa == CPU_ISA_AVX2) return &wino_avx2[dtype];
#endif
    (void)cpu;
    return &wino_base[dtype];
}

static cnn_status check(const cnn_conv_desc *d, cnn_error *err)
{
    if (d->kh == 3 && d->kw == 3 && d->sh == 1 && d->sw == 1 && d->dh == 0 && d->dw == 0) return CNN_OK;
    return CNN_FAIL(
        err, CNN_UNSUPPORTED,
        "kernel %lldx%lld, stride %lldx%lld, dilation %lldx%lld: cpu:winograd takes 3x3 kernels of stride 1 "
        "without dilation",
        (long long)d->kh, (long long)d->kw, (long long)d->sh, (long long)d->sw, (long long)d->dh, (long long)d->dw);
}

static void choose_tensors(cnn_dir dir, wino_plan *m)
{
    const cnn_conv_desc *d = &m->d;
    const wino_tensor x = {d->t.layout, d->mb, d->ic, d->ih, d->iw}, y = {d->t.layout, d->mb, d->oc, d->oh, d->ow};
    const bool data = dir == CNN_BWD_D;
    const int64_t pair = 2 * m->kernels->lanes;
    m->in = data ? y : x;
    m->out = data ? x : y;
    m->pad_h = data ? 2 - d->ph : d->ph;
    m->pad_w = data ? 2 - d->pw : d->pw;
    m->k = m->in.c / d->g;
    m->u = m->out.c / d->g;
    m->k_pad = cpu_ceil_div(m->k, m->kernels->lanes) * m->kernels->lanes;
    m->panels = cpu_ceil_div(m->u, pair);
}

static void choose_blocks(cnn_dir dir, wino_plan *m)
{
    const int64_t tiles_w = cpu_ceil_div(m->out.w, WINO_OUT), tiles_h = cpu_ceil_div(m->out.h, WINO_OUT);
    const double macs = (double)m->d.mb * (double)(tiles_w * tiles_h * WINO_POINTS) * (double)(m->k * m->out.c);
    const int64_t want = cpu_ceil_div(cpu_task_count(macs, MOST_TASKS), m->d.g);
    m->strips_w = cpu_ceil_div(tiles_w, MOST_STRIP);
    m->strip = cpu_ceil_div(tiles_w, m->strips_w);
    m->strips_h = tiles_h * m->strips_w;
    m->strips = m->d.mb * m->strips_h;
    if (dir == CNN_BWD_W) {
        const int64_t bytes = WINO_POINTS * (m->k_pad + m->panels * 2 * m->kernels->lanes) * m->elem;
        m->each = cpu_clamp(BLOCK_BYTES / bytes, LEAST_TILES, MOST_TILES) / m->strip;
    } else {
        m->each = cpu_min(BLOCK_TILES / m->strip, m->strips / want);
    }
    m->each = cpu_clamp(m->each, 1, m->strips);
    m->blocks = cpu_ceil_div(m->strips, m->each);
    m->parts = cpu_clamp(want / m->blocks, 1, m->panels);
}

/* Bytes from the workspace's start. */
static int64_t take(cpu_arena *arena, int64_t count, int64_t each, int64_t elem)
{
    const int64_t at = arena->used;
    cpu_take(arena, count, each, (size_t)elem);
    return at;
}

static int64_t lay_out(const cpu_context *cpu, cnn_dir dir, wino_plan *m, cpu_arena *arena)
{
    const int64_t lanes = m->kernels->lanes, tiles = WINO_POINTS * wino_tiles(m),
                  groups = dir == CNN_BWD_W ? 1 : m->d.g;
    cpu_arena worker = {0};
    m->weights_at = take(arena, groups * WINO_POINTS, wino_point(m), m->elem);
    if (dir == CNN_BWD_W) {
        m->in_at = take(arena, tiles, m->k_pad, m->elem);
        m->out_at = take(arena, tiles, m->panels * 2 * lanes, m->elem);
    } else {
        take(&worker, tiles, m->k_pad, m->elem);
        m->m_at = take(&worker, tiles, 2 * lanes, m->elem);
    }
    m->pixels_at = take(&worker, WINO_IN, (m->strip * WINO_OUT + WINO_IN - WINO_OUT) * lanes, m->elem);
    m->worker = worker.used;
    m->worker_at = take(arena, cpu->threads, worker.used, 1);
    arena->overflow = arena->overflow || worker.overflow;
    return arena->used;
}

cnn_status wino_plan_make(const cpu_context *cpu, const cnn_request *r, void **state, size_t *bytes, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    cpu_arena arena = {0};
    int64_t pixels;
    wino_plan m = {.kernels = kernels_for(cpu, d->t.dtype), .d = *d, .elem = (int64_t)cnn_dtype_size(d->t.dtype)};
    const cnn_status status = check(d, err);
    if (status != CNN_OK) return status;
    /* so that a padded tensor can be counted, which is at most 16 times as large on each side */
    if (!cnn_mul4(d->mb, cpu_max(d->ic, d->oc), cpu_max(d->ih, d->oh), cpu_max(d->iw, d->ow), &pixels) ||
        pixels > INT64_MAX >> 16)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cpu:winograd cannot count so many elements");
    choose_tensors(r->dir, &m);
    choose_blocks(r->dir, &m);
    lay_out(cpu, r->dir, &m, &arena);
    if (arena.overflow) return CNN_FAIL(err, CNN_UNSUPPORTED, "cpu:winograd's workspace exceeds 2^63 bytes");
    *bytes = (size_t)arena.used;
    if (state == NULL) return CNN_OK;
    wino_plan *kept = malloc(sizeof *kept);
    if (kept == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan of cpu:winograd");
    *kept = m;
    *state = kept;
    return CNN_OK;
}

wino_strip wino_strip_at(const wino_plan *m, int64_t s, bool in)
{
    const int64_t image = s / m->strips_h, rest = s % m->strips_h;
    const int64_t row = rest / m->strips_w * WINO_OUT, col = rest % m->strips_w * m->strip * WINO_OUT;
    return (wino_strip){image, row - (in ? m->pad_h : 0), col - (in ? m->pad_w : 0), m->strip};
}

/* w[oc][ic][tap] of a group; the data gradient sums over oc, with the taps turned. */
wino_weights wino_weights_of(const wino_plan *m, cnn_dir dir, const cnn_weighted_args *args, int64_t group)
{
    const bool data = dir == CNN_BWD_D;
    const int64_t filter = (data ? m->u : m->k) * WINO_TAPS, at = group * m->k * m->u * WINO_TAPS * m->elem;
    return (wino_weights){.w = dir == CNN_BWD_W ? NULL : (const char *)args->w + at,
                          .dw = dir == CNN_BWD_W ? (char *)args->dw + at : NULL,
                          .u = m->u,
                          .k = m->k,
                          .of_u = data ? WINO_TAPS : filter,
                          .of_k = data ? filter : WINO_TAPS,
                          .turned = data != m->d.flip,
                          .add = args->beta != 0};
}
