/* floor.c: the time below which no kernel can do an operation on this device, as far as its ceilings were measured. */
#include "peaks.h"

#include "clocks.h"
#include "harness/cpu/limits.h"

#include <math.h>
#include <string.h>

/* An emulated or unknown number of threads apart, ceilings of a device count only at the same number of threads; a
 * GPU's do not depend on the host's. */
static bool applies(const bench_peak *peak, const cnn_session *session, const char *machine)
{
    const bool host = session->impl->device_kind == CNN_DEVICE_CPU;
    return strcmp(peak->machine, machine) == 0 && (!host || peak->threads == session->threads);
}

/* What may stay in the device's caches from one run to the next, so that memory's bandwidth is no limit to it. A GPU
 * tells by its cache's ceiling; where nothing is told, as much as the largest caches hold. */
static double cached_at_most(const bench_peaks *peaks, const cnn_session *session, const char *machine)
{
    const double untold = 256 << 20;
    double most = 0;
    for (int i = 0; i < peaks->count; i++)
        if (applies(&peaks->list[i], session, machine)) most = fmax(most, (double)peaks->list[i].holds);
    if (session->impl->device_kind == CNN_DEVICE_CPU) {
        for (int level = 1; level < 3; level++) most = fmax(most, (double)cpu_cache_bytes(level) * session->threads);
        most = fmax(most, (double)cpu_last_cache_bytes(0, session->threads));
    }
    return most > 0 ? most : untold;
}

static const bench_peak *highest(const bench_peak *a, const bench_peak *b) { return !a || b->value > a->value ? b : a; }

bool bench_floor_of(const bench_peaks *peaks, const cnn_session *session, const cnn_problem *problem, cnn_dir dir,
                    bool cold, bench_floor *floor)
{
    const cnn_type *t = &problem->u.type;
    const double flops = cnn_flops(problem, dir), bytes = cnn_bytes(problem, dir);
    const bench_peak *arithmetic = NULL, *memory = NULL;
    char machine[CNN_NAME_MAX], name[2 * CNN_NAME_MAX + 16];
    machine_name(session, machine, sizeof machine);
    const bool from_memory = cold || bytes > cached_at_most(peaks, session, machine);
    for (int i = 0; i < peaks->count; i++) {
        const bench_peak *p = &peaks->list[i];
        if (!applies(p, session, machine)) continue;
        const bool fits = p->holds == 0 ? from_memory : (!cold && bytes <= (double)p->holds);
        if (p->unit == CNN_PEAK_FLOPS && p->dtype == t->dtype && p->math == t->math)
            arithmetic = highest(arithmetic, p);
        if (p->unit == CNN_PEAK_BYTES && fits) memory = highest(memory, p);
    }
    if (!arithmetic || !memory) return false;
    const double computing = flops / arithmetic->value, moving = bytes / memory->value;
    floor->seconds = fmax(computing, moving);
    const bench_peak *by = computing >= moving ? arithmetic : memory;
    floor->marks = by->marks;
    snprintf(floor->by, sizeof floor->by, "%s", bench_peak_name(by, name, sizeof name));
    return true;
}
