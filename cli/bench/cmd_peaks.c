/* cmd_peaks.c: `benchcnn peaks`: measures the ceilings of every device that can be used here, on the host for one
 * thread, two, four, ... up to all of them. Over ranks, what is between them, and nothing else. */
#include "cli/cli.h"
#include "cli/table.h"
#include "harness/base/text.h"
#include "harness/cpu/threads.h"
#include "parts.h"

#include <string.h>

static const double default_seconds = 0.15; /* a round */

typedef struct peaks_run {
    const cli_options *options;
    cli_sessions sessions;
    bench_peaks peaks;
    cli_output output;
    ranks *ranks;     /* NULL: none */
    bench_sums *sums; /* timed: ceilings; failed */
    ceiling_watch watch;
} peaks_run;

static void value_text(const bench_peak *peak, char *text, size_t size)
{
    const double v = peak->value;
    if (peak->unit == CNN_PEAK_SECONDS)
        snprintf(text, size, "%.2f µs", v * 1e6);
    else if (peak->unit == CNN_PEAK_FLOPS)
        snprintf(text, size, v >= 1e13 ? "%.1f TFLOP/s" : "%.1f GFLOP/s", v * (v >= 1e13 ? 1e-12 : 1e-9));
    else
        snprintf(text, size, v >= 1e13 ? "%.2f TB/s" : "%.1f GB/s", v * (v >= 1e13 ? 1e-12 : 1e-9));
}

/* Recorded at once: an interrupt loses none that was shown. */
static cnn_status report(void *user, const bench_peak *peak, cnn_error *err)
{
    const peaks_run *r = user;
    r->sums->timed++;
    char name[2 * CNN_NAME_MAX + 16], value[48];
    const cnn_status status = record_write(r->output.sink, bench_peak_record(peak), err);
    if (r->options->json) return status;
    bench_peak_name(peak, name, sizeof name);
    value_text(peak, value, sizeof value);
    char marks[128];
    bench_marks_text(peak->marks, marks, sizeof marks);
    printf("  %-24s %5d thread%s  %*s%s%s\n", name, peak->threads, peak->threads == 1 ? " " : "s",
           table_field(value, 16), value, marks[0] ? "  " : "", marks);
    fflush(stdout);
    return status;
}

/* Ceilings are a device's: one that measures none of its own is told whose figures it sees. */
static void print_tellers(const peaks_run *r, const cnn_session *session)
{
    const cnn_registry *registry = r->options->registry;
    char names[512] = "";
    for (int i = 0; i < cnn_impl_count(registry); i++)
        if (bench_peaks_teller(cnn_impl_at(registry, i), session))
            cnn_append(names, sizeof names, "%s%s", names[0] ? ", " : "", cnn_impl_at(registry, i)->name);
    for (int i = 0; i < r->sessions.count; i++) {
        const cnn_impl *impl = r->sessions.list[i].impl;
        if (impl->device_kind != session->impl->device_kind || cnn_peak_count(impl) > 0) continue;
        if (names[0])
            printf("  %s measures no ceilings: these are its device's, as measured by %s\n", impl->name, names);
        else
            printf("  %s measures no ceilings, nor does any other implementation here for its device\n", impl->name);
    }
}

/* Once, however many runs measure it. */
static cnn_status begin_device(peaks_run *r, int number, cnn_error *err)
{
    const cnn_session *session = &r->sessions.list[number];
    run_watch *w = r->options->watch;
    char machine[CNN_NAME_MAX];
    if (number < w->done) return CNN_OK;
    w->done = number + 1;
    machine_name(session, machine, sizeof machine);
    if (!r->options->json) printf("%s\n", machine);
    if (!r->options->json) print_tellers(r, session);
    return cli_sessions_environment(&r->sessions, number, r->options->command_line, r->output.sink, err);
}

static cnn_status measure_device(peaks_run *r, int number, cnn_error *err)
{
    const cli_options *o = r->options;
    const cnn_session *session = &r->sessions.list[number];
    const peak_plan plan = {.seconds = o->min_time >= 0 ? o->min_time : default_seconds,
                            .latencies = true,
                            .stop = interrupt_seen,
                            .each = report,
                            .user = r,
                            .registry = o->registry,
                            .enter = cli_ceiling_enter,
                            .enter_user = &r->watch};
    cnn_session like = *session; /* which says which device, and how many threads */
    cnn_status status = begin_device(r, number, err);
    if (session->impl->device_kind == CNN_DEVICE_CPU)
        for (like.threads = 1; status == CNN_OK && like.threads < session->threads; like.threads *= 2)
            status = bench_peaks_measure(&r->peaks, &like, &plan, err);
    return status == CNN_OK ? bench_peaks_measure(&r->peaks, session, &plan, err) : status;
}

static cnn_status measure_all(peaks_run *r, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < r->sessions.count; i++)
        if (cli_first_of_device(&r->sessions, i)) status = measure_device(r, i, err);
    return status;
}

cnn_status args_peaks(const cli_options *options, cnn_error *err)
{
    (void)options;
    (void)err;
    return CNN_OK;
}

/* All that calls an implementation; with --isolate more than one run may, each behind the one before. */
static int run_here(peaks_run *r)
{
    cnn_error err;
    cnn_status status = cli_sessions_open(r->options, true, &r->sessions, &err);
    const rank_peaks between = {r->options, &r->sessions, r->output.sink, r->sums, r->ranks};
    status = ranks_agree(r->ranks, status, &err);
    if (status == CNN_OK && r->sums->ceilings_begun == 0) cli_say_warnings(&r->sessions);
    if (status == CNN_OK) status = rank_size(r->ranks) > 1 ? cli_rank_peaks(&between, &err) : measure_all(r, &err);
    cli_ranks_abort(r->ranks, status, &err);
    cli_sessions_close(&r->sessions);
    if (status != CNN_OK) return cli_fail(&err);
    return cli_output_end(&r->output, r->sums->failed > 0  ? EXIT_FAILED
                                      : r->sums->timed > 0 ? EXIT_HELD
                                                           : EXIT_NOTHING);
}

int cmd_peaks(const cli_options *options, cnn_error *err)
{
    static cli_options own; /* large: kept off the stack */
    bench_sums *sums = (bench_sums *)options->watch->kept;
    peaks_run r = {.options = options, .sums = sums, .watch = {.watch = options->watch, .sums = sums}};
    int result = EXIT_FAILED;
    cnn_status status = cli_ranks_open(options, &own, &r.ranks, err);
    if (r.ranks != NULL) r.options = options = &own;
    if (status == CNN_OK) status = ranks_agree(r.ranks, cli_output_open(options, true, &r.output, err), err);
    if (status == CNN_OK) status = cli_output_begin(options, &r.output, err);
    if (status == CNN_OK) status = cli_report_lost(options, r.output.sink, &sums->failed, err);
    if (status == CNN_OK && !options->none_left) result = run_here(&r);
    if (status != CNN_OK) result = cli_fail(err);
    cli_output_close(&r.output);
    bench_peaks_free(&r.peaks);
    const bool speaks = rank_number(r.ranks) == 0;
    ranks_close(r.ranks);
    return speaks ? result : EXIT_HELD;
}
