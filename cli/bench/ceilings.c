/* ceilings.c: ceilings for the commands that set figures against them. */
#include "parts.h"

#include "harness/base/clock.h"

#include <math.h>
#include <string.h>
#include <strings.h>

bool cli_first_of_device(const cli_sessions *sessions, int index)
{
    for (int i = 0; i < index; i++)
        if (sessions->list[i].impl->device_kind == sessions->list[index].impl->device_kind) return false;
    return true;
}

bool cli_ceiling_enter(void *user, const cnn_impl *impl, int index)
{
    ceiling_watch *c = user;
    char key[2 * CNN_NAME_MAX];
    if (!impl || index < 0) {
        const bool here = watch_enter(c->watch, impl ? impl->name : NULL, "opening or closing it for its ceilings");
        if (!here) c->number += cnn_peak_count(impl);
        return here;
    }
    if (c->number++ < c->sums->ceilings_begun) return false;
    c->sums->ceilings_begun = c->number;
    snprintf(key, sizeof key, "%s, ceiling %d of %d", impl->name, index + 1, cnn_peak_count(impl));
    return watch_enter(c->watch, key, "measuring it");
}

/* The next run, after one that dies, need not measure it. */
static cnn_status keep(void *user, const bench_peak *peak, cnn_error *err)
{
    bench_sums *sums = user;
    if (sums->n_ceilings == BENCH_CEILINGS_MAX)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no room for %d ceilings", sums->n_ceilings + 1);
    sums->ceilings[sums->n_ceilings++] = *peak;
    return CNN_OK;
}

static cnn_status take_kept(const bench_sums *sums, bench_peaks *peaks, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < sums->n_ceilings; i++)
        status = bench_peaks_add(peaks, &sums->ceilings[i], err);
    return status;
}

/* A file of another machine, or of another number of threads, gives no floor: said once, not left to be wondered at. */
static void say_what_is_missing(const cli_sessions *sessions, const bench_peaks *peaks)
{
    for (int i = 0; i < sessions->count; i++) {
        const cnn_session *s = &sessions->list[i];
        const bool host = s->impl->device_kind == CNN_DEVICE_CPU;
        char machine[CNN_NAME_MAX];
        int fitting = 0;
        machine_name(s, machine, sizeof machine);
        for (int k = 0; k < peaks->count; k++)
            fitting += strcmp(peaks->list[k].machine, machine) == 0 && (!host || peaks->list[k].threads == s->threads);
        if (fitting > 0) continue;
        fprintf(stderr, "no floors for %s: %s holds no ceilings of %s", s->impl->name, peaks->source, machine);
        if (host) fprintf(stderr, " with %d thread%s", s->threads, s->threads == 1 ? "" : "s");
        fputc('\n', stderr);
    }
}

static void say_doubts(const bench_peaks *peaks)
{
    int marked = 0;
    for (int i = 0; i < peaks->count; i++) marked += peaks->list[i].marks != 0;
    if (marked > 0)
        fprintf(
            stderr,
            "ceilings: %d of %d are doubted, for other work was going on or their rounds differ: shares of them are "
            "marked\n",
            marked, peaks->count);
}

static void say(const bench *b, int kept, double age, double seconds)
{
    const int count = b->peaks.count;
    if (!b->options->quiet && kept == count)
        fprintf(stderr, "ceilings: %d, measured %.0f minutes ago (--peaks new measures them again)\n", count, age / 60);
    else if (!b->options->quiet)
        fprintf(stderr, "ceilings: %d measured in %.1f s\n", count - kept, seconds);
    say_doubts(&b->peaks);
}

static peak_plan plan_of(const bench *b)
{
    static const double seconds = 0.03; /* for each */
    return (peak_plan){.seconds = seconds, .stop = interrupt_seen, .types = b->types.types, .n_types = b->types.count};
}

/* Of all devices; what plug-ins tell of theirs is neither kept nor asked here. */
static cnn_status measure_again(void *user, cnn_error *err)
{
    enum { MOST = 6 };
    bench *b = user;
    const peak_plan plan = plan_of(b);
    bool doubted = b->sums->ceilings_age > 0;
    cnn_status status = CNN_OK;
    for (int i = 0; i < b->peaks.count; i++) doubted = doubted || b->peaks.list[i].marks != 0;
    if (!doubted || b->sums->ceilings_again >= MOST) return CNN_OK;
    b->sums->ceilings_again++;
    b->sums->ceilings_age = 0;
    if (!b->options->quiet) fprintf(stderr, "ceilings: a figure is beyond one: they are measured again\n");
    for (int i = 0; status == CNN_OK && i < b->sessions.count; i++)
        if (cli_first_of_device(&b->sessions, i)) {
            status = bench_peaks_measure(&b->peaks, &b->sessions.list[i], &plan, err);
            if (status == CNN_OK) bench_peaks_keep(&b->peaks, &b->sessions.list[i], &plan);
        }
    return status;
}

/* What a plug-in tells of a device is its own: neither kept nor replaced by what was kept. */
static bool plugin_tells(const bench *b, const cnn_session *like)
{
    const cnn_registry *all = b->options->registry;
    bool tells = false;
    for (int i = cnn_impl_count(NULL); i < cnn_impl_count(all) && !tells; i++)
        tells = bench_peaks_teller(cnn_impl_at(all, i), like);
    return tells;
}

/* Kept ones of a device, or measured. */
static cnn_status get(bench *b, const cnn_session *like, const peak_plan *plan, int *kept, cnn_error *err)
{
    const bool may_keep = !plugin_tells(b, like), anew = b->options->peaks != NULL;
    const int before = b->peaks.count;
    double age;
    if (may_keep && !anew && bench_peaks_kept(&b->peaks, like, plan, &age)) {
        cnn_status status = CNN_OK;
        for (int i = before; status == CNN_OK && i < b->peaks.count; i++)
            status = keep(b->sums, &b->peaks.list[i], err);
        *kept += b->peaks.count - before;
        b->sums->ceilings_age = fmax(b->sums->ceilings_age, fmax(age, 1));
        return status;
    }
    const cnn_status status = bench_peaks_measure(&b->peaks, like, plan, err);
    if (status == CNN_OK && may_keep) bench_peaks_keep(&b->peaks, like, plan);
    return status;
}

cnn_status cli_ceilings(bench *b, cnn_error *err)
{
    const char *file = b->options->peaks && strcasecmp(b->options->peaks, "new") != 0 ? b->options->peaks : NULL;
    ceiling_watch watch = {.watch = b->options->watch, .sums = b->sums};
    peak_plan plan = plan_of(b);
    const double start = cnn_now();
    int kept = 0;
    plan.each = keep;
    plan.user = b->sums;
    plan.registry = b->options->registry;
    plan.enter = cli_ceiling_enter;
    plan.enter_user = &watch;
    b->params.peaks = &b->peaks;
    if (file && strcasecmp(file, "none") == 0) return CNN_OK;
    cnn_status status = file ? bench_peaks_read(&b->peaks, file, err) : take_kept(b->sums, &b->peaks, err);
    if (status == CNN_OK && file) say_what_is_missing(&b->sessions, &b->peaks);
    if (status != CNN_OK || file) return status;
    b->params.peaks_again = measure_again;
    b->params.peaks_user = b;
    if (b->sums->ceilings_done) return CNN_OK;
    for (int i = 0; status == CNN_OK && i < b->sessions.count; i++)
        if (cli_first_of_device(&b->sessions, i)) status = get(b, &b->sessions.list[i], &plan, &kept, err);
    b->sums->ceilings_done = status == CNN_OK;
    if (status != CNN_OK || b->peaks.count == 0) return status;
    for (int i = 0; status == CNN_OK && i < b->peaks.count; i++)
        status = record_write(b->output.sink, bench_peak_record(&b->peaks.list[i]), err);
    say(b, kept, b->sums->ceilings_age, cnn_now() - start);
    return status;
}
