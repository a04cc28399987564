/* floor.c: the time below which no kernel can do an operation on this device, as far as its ceilings were measured. */
#include "peaks.h"

#include "clocks.h"
#include "harness/cpu/limits.h"
#include "verify/oracle/transforms.h"

#include <math.h>
#include <string.h>

/* Ceilings of a host count only at the same number of threads; a GPU's do not depend on the host's. */
typedef struct device {
    const char *machine;
    int threads; /* 0: of any number */
} device;

static bool applies(const bench_peak *peak, const device *on)
{
    return strcmp(peak->machine, on->machine) == 0 && (on->threads == 0 || peak->threads == on->threads);
}

/* What may stay in the device's caches from one run to the next, so that memory's bandwidth is no limit to it. A GPU
 * tells by its cache's ceiling; where nothing is told, as much as the largest caches hold. */
static const double untold_cache = 256 << 20;

static double largest_told(const bench_peaks *peaks, const device *on)
{
    double most = 0;
    for (int i = 0; i < peaks->count; i++)
        if (applies(&peaks->list[i], on)) most = fmax(most, (double)peaks->list[i].holds);
    return most;
}

static double cached_at_most(const bench_peaks *peaks, const cnn_session *session, const device *on)
{
    double most = largest_told(peaks, on);
    if (session->impl->device_kind == CNN_DEVICE_CPU) {
        for (int level = 1; level < 3; level++) most = fmax(most, (double)cpu_cache_bytes(level) * session->threads);
        most = fmax(most, (double)cpu_last_cache_bytes(0, session->threads));
    }
    return most > 0 ? most : untold_cache;
}

static const bench_peak *highest(const bench_peak *a, const bench_peak *b) { return !a || b->value > a->value ? b : a; }

/* A number of f32 is two of TF32, and a product of such numbers three products (the fourth, low by low, lies below
 * f32's last bit): where matrix units do those faster than the device does f32, a third of their ceiling is the limit.
 */
static const double split_products = 3;

static bool floor_on(const bench_peaks *peaks, const device *on, const bench_need *need, bool from_memory,
                     bench_floor *floor)
{
    const cnn_type type = bench_ceiling_type(&need->type), *t = &type;
    const double flops = need->flops, bytes = need->bytes;
    const bench_peak *arithmetic = NULL, *memory = NULL, *split = NULL;
    char name[2 * CNN_NAME_MAX + 16];
    for (int i = 0; i < peaks->count; i++) {
        const bench_peak *p = &peaks->list[i];
        if (!applies(p, on)) continue;
        const bool fits = p->holds == 0 ? from_memory : (!need->cold && bytes <= (double)p->holds);
        if (p->unit == CNN_PEAK_FLOPS && p->dtype == t->dtype && p->math == t->math)
            arithmetic = highest(arithmetic, p);
        if (p->unit == CNN_PEAK_FLOPS && t->dtype == CNN_F32 && t->math == CNN_MATH_F32 && p->dtype == CNN_F32 &&
            p->math == CNN_MATH_TF32)
            split = highest(split, p);
        if (p->unit == CNN_PEAK_BYTES && fits) memory = highest(memory, p);
    }
    if (!arithmetic || !memory) return false;
    const double moving = bytes / memory->value;
    double computing = flops / arithmetic->value;
    const bool beyond = split && need->took < computing && split->value > split_products * arithmetic->value;
    if (beyond) {
        arithmetic = split;
        computing = flops * split_products / split->value;
    }
    floor->seconds = fmax(computing, moving);
    const bench_peak *by = computing >= moving ? arithmetic : memory;
    floor->marks = by->marks;
    floor->moves = by == memory;
    snprintf(floor->by, sizeof floor->by, "%s%s", by == split ? "1/3 of " : "", bench_peak_name(by, name, sizeof name));
    return true;
}

static bench_need need_of(const bench_work *work)
{
    return (bench_need){work->problem->u.type,
                        cnn_flops(work->problem, work->dir) / vf_transform_saves(work->problem, work->algorithm),
                        cnn_bytes(work->problem, work->dir), work->took, work->cold};
}

bool bench_floor_of(const bench_peaks *peaks, const cnn_session *session, const bench_work *work, bench_floor *floor)
{
    const bool host = session->impl->device_kind == CNN_DEVICE_CPU;
    char machine[CNN_NAME_MAX];
    machine_name(session, machine, sizeof machine);
    const device on = {machine, host ? session->threads : 0};
    const bench_need need = need_of(work);
    const bool from_memory = need.cold || need.bytes > cached_at_most(peaks, session, &on);
    return floor_on(peaks, &on, &need, from_memory, floor);
}

bool bench_floor_cold(const bench_peaks *peaks, const bench_peak *device_of, const cnn_problem *problem, cnn_dir dir,
                      bench_floor *floor)
{
    const device on = {device_of->machine, device_of->threads};
    const bench_work work = {problem, dir, true, (double)INFINITY, NULL};
    const bench_need need = need_of(&work);
    return floor_on(peaks, &on, &need, true, floor);
}

bool bench_floor_recorded(const bench_peaks *peaks, const char *machine, int threads, const bench_need *need,
                          bench_floor *floor)
{
    const device on = {machine, threads};
    const double told = largest_told(peaks, &on);
    return floor_on(peaks, &on, need, need->cold || need->bytes > (told > 0 ? told : untold_cache), floor);
}
