/* cmd_peaks.c: `benchcnn peaks`: measures the ceilings of every device that can be used here, on the host for one
 * thread, two, four, ... up to all of them. */
#include "../cpu/threads.h"
#include "bench_parts.h"

#include <stdlib.h>
#include <string.h>

static const double usual_seconds = 0.15; /* a round */

typedef struct peaks_run {
    const cli_options *options;
    cli_sessions sessions;
    bench_peaks peaks;
    record_sink *sink;
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
    char name[2 * CNN_NAME_MAX + 16], value[48];
    const cnn_status status = record_write(r->sink, bench_peak_record(peak), err);
    if (r->options->json) return status;
    bench_peak_name(peak, name, sizeof name);
    value_text(peak, value, sizeof value);
    char marks[128];
    bench_marks_text(peak->marks, marks, sizeof marks);
    printf("  %-24s %5d thread%s  %*s%s%s\n", name, peak->threads, peak->threads == 1 ? " " : "s",
           strstr(value, "µ") ? 17 : 16, value, marks[0] ? "  " : "", marks);
    fflush(stdout);
    return status;
}

static cnn_status measure_threads(peaks_run *r, const cnn_session *session, int threads, const peak_plan *plan,
                                  cnn_error *err)
{
    cnn_session some;
    if (threads == session->threads) return bench_peaks_measure(&r->peaks, session, plan, err);
    const cnn_session_params params = {.threads = threads, .device = session->device};
    cnn_status status = cnn_session_open(session->impl, &params, &some, err);
    if (status != CNN_OK) return status;
    status = bench_peaks_measure(&r->peaks, &some, plan, err);
    cnn_session_close(&some);
    return status;
}

static cnn_status measure_device(peaks_run *r, const cnn_session *session, cnn_error *err)
{
    const cli_options *o = r->options;
    const peak_plan plan = {.seconds = o->min_time >= 0 ? o->min_time : usual_seconds,
                            .latencies = true,
                            .stop = cli_interrupted,
                            .each = report,
                            .user = r};
    const bool host = session->impl->device_kind == CNN_DEVICE_CPU;
    char machine[CNN_NAME_MAX];
    machine_name(session, machine, sizeof machine);
    if (!o->json) printf("%s\n", machine);
    cnn_status status = record_environment(r->sink, session, o->command_line, err);
    for (int threads = host ? 1 : session->threads; status == CNN_OK && threads < session->threads; threads *= 2)
        status = measure_threads(r, session, threads, &plan, err);
    return status == CNN_OK ? measure_threads(r, session, session->threads, &plan, err) : status;
}

/* Implementations of the same kind of device share its ceilings: the first one's session stands for it. */
static cnn_status measure_all(peaks_run *r, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < r->sessions.count; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++)
            seen = seen || r->sessions.list[k].impl->device_kind == r->sessions.list[i].impl->device_kind;
        if (!seen) status = measure_device(r, &r->sessions.list[i], err);
    }
    return status;
}

cnn_status args_peaks(const cli_options *options, cnn_error *err) { return cli_no_words(options, err); }

int cmd_peaks(const cli_options *options, cnn_error *err)
{
    peaks_run *r = calloc(1, sizeof *r);
    if (!r) {
        CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for ceilings");
        return cli_fail(err);
    }
    r->options = options;
    cnn_status status = cli_sink_open(options->out, options->json, &r->sink, err);
    if (status == CNN_OK) status = cli_sessions_open(options, true, &r->sessions, err);
    if (status == CNN_OK) cli_say_warnings(&r->sessions);
    if (status == CNN_OK) status = measure_all(r, err);
    const int result = status != CNN_OK ? cli_fail(err) : r->peaks.count > 0 ? EXIT_HELD : EXIT_NOTHING;
    cli_sessions_close(&r->sessions);
    record_sink_close(r->sink);
    bench_peaks_free(&r->peaks);
    free(r);
    return result;
}
