/* peaks.c: runs each ceiling's kernel until its time is up, in rounds. A ceiling is a maximum: other work on the
 * machine can only lower it, so the best of all rounds counts, and it counts as known when two rounds agree on it. */
#include "peaks.h"

#include "clocks.h"
#include "harness/base/clock.h"
#include "harness/base/grow.h"
#include "harness/device/call.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 2000, SAMPLES_LEAST = 3, WARM_UPS = 2, ROUNDS_LEAST = 2, ROUNDS_MOST = 5 };
static const double amount_max = 1e18; /* of operations or bytes in one run: more than minutes of any device */
static const double agreeing = 0.03;   /* rounds that differ by less */

static bool same_ceiling(const bench_peak *a, const bench_peak *b)
{
    return strcmp(a->machine, b->machine) == 0 && strcmp(a->what, b->what) == 0 &&
           strcmp(a->variant, b->variant) == 0 && a->unit == b->unit && a->dtype == b->dtype && a->math == b->math &&
           a->threads == b->threads;
}

static bool better(const bench_peak *a, const bench_peak *b)
{
    return a->unit == CNN_PEAK_SECONDS ? a->value < b->value : a->value > b->value;
}

cnn_status bench_peaks_add(bench_peaks *peaks, const bench_peak *peak, cnn_error *err)
{
    for (int i = 0; i < peaks->count; i++) {
        if (!same_ceiling(&peaks->list[i], peak)) continue;
        if (better(peak, &peaks->list[i])) peaks->list[i] = *peak;
        return CNN_OK;
    }
    bench_peak *added = cnn_add_item(&peaks->list, &peaks->count, &peaks->capacity, sizeof *peak, "ceilings", err);
    if (!added) return err->status;
    *added = *peak;
    return CNN_OK;
}

void bench_peaks_free(bench_peaks *peaks)
{
    free(peaks->list);
    memset(peaks, 0, sizeof *peaks);
}

/* One run. A latency is the host's to see: from its first call to the device's being done. */
static cnn_status time_run(const cnn_session *session, const cnn_peak *peak, double *seconds, cnn_error *err)
{
    const bool wall = peak->unit == CNN_PEAK_SECONDS;
    cnn_timer timer;
    cnn_status status = cnn_sync(session, err);
    const double start = cnn_now();
    if (status == CNN_OK && !wall) status = cnn_timer_start(session, &timer, err);
    if (status == CNN_OK) status = CNN_CALL(session->impl, peaks->run, err, session->context, peak, err);
    if (status == CNN_OK) status = wall ? cnn_sync(session, err) : cnn_timer_stop(session, &timer, seconds, err);
    if (wall) *seconds = cnn_now() - start;
    return status;
}

static cnn_status sample(const cnn_session *session, const cnn_peak *peak, const peak_plan *plan, bench_peak *result,
                         cnn_error *err)
{
    double seconds[SAMPLES_MAX], sorted[SAMPLES_MAX];
    bench_stats stats;
    int count = 0;
    for (int i = 0; i < WARM_UPS; i++)
        if (time_run(session, peak, &seconds[0], err) != CNN_OK) return err->status;
    const double start = cnn_now();
    while (count < SAMPLES_LEAST || (count < SAMPLES_MAX && cnn_now() - start < plan->seconds)) {
        if (plan->stop && plan->stop()) return CNN_FAIL(err, CNN_INTERRUPTED, "measuring ceilings was interrupted");
        if (time_run(session, peak, &seconds[count], err) != CNN_OK) return err->status;
        count++;
    }
    bench_stats_of(seconds, count, sorted, &stats);
    const bool latency = peak->unit == CNN_PEAK_SECONDS;
    result->value = latency ? stats.min / peak->amount : peak->amount / stats.min;
    result->median = latency ? stats.median / peak->amount : peak->amount / stats.median;
    result->samples = count;
    if (stats.min > 0) return CNN_OK;
    return CNN_FAIL(err, CNN_DEVICE, "a run of the ceiling %s takes no time by this device's clock", peak->what);
}

/* How many of the rounds came to the best one's value. */
static int agreeing_with(const double *values, int count, double best)
{
    int found = 0;
    for (int i = 0; i < count; i++) found += fabs(values[i] - best) <= agreeing * best;
    return found;
}

/* Rounds, until two agree on the best and nothing else was at work, or there were enough. What was at work is told from
 * the best round where that is long enough to tell, else from all of them. */
static cnn_status best_round(const cnn_session *session, const cnn_peak *peak, const peak_plan *plan,
                             clock_watch *watch, bench_peak *best, cnn_error *err)
{
    double values[ROUNDS_MOST];
    clock_report all = {.readings = 0}, of_best = all;
    int samples = 0;
    const double start = cnn_now();
    for (int round = 0; round < ROUNDS_MOST; round++) {
        bench_peak now = *best;
        clock_report own = {.readings = 0};
        clock_span span;
        clock_watch_start(watch, &span);
        if (sample(session, peak, plan, &now, err) != CNN_OK) return err->status;
        clock_watch_stop(watch, &span, &own);
        clock_watch_stop(watch, &span, &all);
        samples += now.samples;
        values[round] = now.value;
        if (round == 0 || better(&now, best)) {
            *best = now;
            of_best = own;
        }
        const bool known = agreeing_with(values, round + 1, best->value) >= ROUNDS_LEAST;
        best->samples = samples;
        /* threads that measure a peak wait for nobody: how far they are apart is nothing to them */
        const unsigned marks = clock_marks(isnan(clock_foreign(&of_best)) ? &all : &of_best) & ~(unsigned)BENCH_APART;
        best->marks = marks | (known ? 0 : BENCH_NOISY);
        if (best->marks == 0 || (round + 1 >= ROUNDS_LEAST && cnn_now() - start > ROUNDS_MOST * plan->seconds)) break;
    }
    return CNN_OK;
}

/* What a type's floor rests on: its own arithmetic, and for f32 what three products of TF32 could do (floor.c). */
static bool is_wanted(const cnn_peak *peak, const peak_plan *plan)
{
    if (peak->unit == CNN_PEAK_SECONDS) return plan->latencies;
    if (peak->unit != CNN_PEAK_FLOPS || !plan->types) return true;
    for (int i = 0; i < plan->n_types; i++) {
        const cnn_type t = bench_ceiling_type(&plan->types[i]);
        if (t.dtype == peak->dtype &&
            (t.math == peak->math || (peak->dtype == CNN_F32 && t.math == CNN_MATH_F32 && peak->math == CNN_MATH_TF32)))
            return true;
    }
    return false;
}

static bool enter(const peak_plan *plan, const cnn_impl *impl, int index)
{
    return !plan->enter || plan->enter(plan->enter_user, impl, index);
}

/* What a figure is made of: a name that ends, kinds that there are, and an amount of work. */
static cnn_status check_peak(const cnn_session *session, cnn_peak *peak, cnn_error *err)
{
    cnn_answer_text(peak->what, sizeof peak->what);
    cnn_answer_text(peak->variant, sizeof peak->variant);
    if ((unsigned)peak->unit <= CNN_PEAK_SECONDS && (unsigned)peak->dtype < CNN_DTYPE_COUNT &&
        (unsigned)peak->math < CNN_MATH_COUNT && peak->amount > 0 && peak->amount <= amount_max &&
        peak->what[0] != '\0')
        return CNN_OK;
    return CNN_FAIL(err, CNN_INTERNAL,
                    "%.64s: the ceiling '%s' is of unit %d, dtype %d, math %d and amount %g, which cannot be",
                    session->impl->name, peak->what, (int)peak->unit, (int)peak->dtype, (int)peak->math, peak->amount);
}

static cnn_status measure_one(bench_peaks *peaks, const cnn_session *session, clock_watch *watch,
                              const bench_peak *common, int index, const peak_plan *plan, cnn_error *err)
{
    cnn_peak peak = {.what = ""};
    bench_peak result = *common;
    if (!enter(plan, session->impl, index)) return CNN_OK;
    cnn_status status = CNN_CALL(session->impl, peaks->open, err, session->context, index, &peak, err);
    if (status == CNN_UNSUPPORTED || status == CNN_OUT_OF_MEMORY) return CNN_OK; /* not here */
    if (status != CNN_OK) return status;
    if ((status = check_peak(session, &peak, err)) != CNN_OK || !is_wanted(&peak, plan)) goto cleanup;
    snprintf(result.what, sizeof result.what, "%s", peak.what);
    snprintf(result.variant, sizeof result.variant, "%s", peak.variant);
    result.unit = peak.unit;
    result.dtype = peak.dtype;
    result.math = peak.math;
    result.holds = (int64_t)peak.holds;
    status = best_round(session, &peak, plan, watch, &result, err);
    if (status == CNN_OK) status = bench_peaks_add(peaks, &result, err);
    if (status == CNN_OK && plan->each) status = plan->each(plan->user, &result, err);
cleanup:
    CNN_CALL_VOID(session->impl, peaks->close, session->context, &peak);
    return status;
}

bool bench_peaks_teller(const cnn_impl *impl, const cnn_session *like)
{
    return impl->device_kind == like->impl->device_kind && cnn_impl_timed(impl) && cnn_peak_count(impl) > 0;
}

cnn_status bench_peaks_measure(bench_peaks *peaks, const cnn_session *like, const peak_plan *plan, cnn_error *err)
{
    const cnn_session_params params = {.threads = like->threads, .device = like->device};
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < cnn_impl_count(plan->registry); i++) {
        const cnn_impl *impl = cnn_impl_at(plan->registry, i);
        cnn_session session;
        bench_peak common = {.threads = like->threads};
        if (!bench_peaks_teller(impl, like) || !enter(plan, impl, -1)) continue;
        if (cnn_session_open(impl, &params, &session, err) != CNN_OK) continue; /* it cannot run here */
        snprintf(common.impl, sizeof common.impl, "%s", impl->name);
        machine_name(&session, common.machine, sizeof common.machine);
        clock_watch *watch = NULL;
        status = clock_watch_open(&session, &watch, err);
        for (int k = 0; status == CNN_OK && k < cnn_peak_count(impl); k++)
            status = measure_one(peaks, &session, watch, &common, k, plan, err);
        (void)enter(plan, impl, -1);
        clock_watch_close(watch);
        cnn_session_close(&session);
    }
    (void)enter(plan, NULL, 0);
    snprintf(peaks->source, sizeof peaks->source, "measured at start");
    return status;
}
