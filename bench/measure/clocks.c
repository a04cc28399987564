/* clocks.c: /proc/stat, getrusage and NVML before and after. */
#include "clocks.h"

#include "harness/base/clock.h"
#include "harness/cpu/handover.h"
#include "harness/cpu/limits.h"
#include "harness/device/call.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const double least_wall = 0.05, disturbing = 0.05;

/* Where a line takes longer than that, they share no cache; and so much longer than before is another place. */
static const double far_apart = 100e-9, moving = 1.5;

struct clock_watch {
    bool host;   /* the work runs on the host's processors */
    int threads; /* in so many threads */
    double nearest_s;
    nvml *gpu; /* NULL: none */
};

/* One fact of what an implementation describes. */
typedef struct wanted {
    const char *key;
    char *text;
    size_t size;
} wanted;

static void take_fact(void *user, const char *key, const char *value)
{
    const wanted *w = user;
    if (strcmp(key, w->key) == 0) snprintf(w->text, w->size, "%s", value);
}

void machine_fact(const cnn_session *session, const char *key, char *text, size_t size)
{
    wanted w = {key, text, size};
    text[0] = '\0';
    cnn_describe(session, take_fact, &w);
}

void machine_name(const cnn_session *session, char *text, size_t size)
{
    machine_fact(session, "gpu", text, size);
    if (text[0] == '\0') cpu_model(text, (int)size);
}

cnn_status clock_watch_open(const cnn_session *session, clock_watch **result, cnn_error *err)
{
    char bus[64];
    cnn_error why;
    clock_watch *watch = *result = calloc(1, sizeof *watch);
    if (!watch) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to watch clocks");
    watch->host = session->impl->device_kind != CNN_DEVICE_CUDA;
    watch->threads = session->threads;
    if (watch->host) return CNN_OK;
    machine_fact(session, "pci_bus_id", bus, sizeof bus);
    (void)nvml_open(NULL, bus, session->device, &watch->gpu, &why); /* not there: its fields stay empty */
    return CNN_OK;
}

void clock_watch_close(clock_watch *watch)
{
    if (!watch) return;
    nvml_close(watch->gpu);
    free(watch);
}

/* The first line of /proc/stat: user nice system idle iowait irq softirq steal, in ticks of all processors together. */
static bool processors_busy(double *busy, double *stolen)
{
    double t[8];
    FILE *file = fopen("/proc/stat", "re");
    if (!file) return false;
    const int count =
        fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]);
    fclose(file);
    if (count != 8) return false;
    const double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    *busy = (t[0] + t[1] + t[2] + t[5] + t[6]) * tick;
    *stolen = t[7] * tick;
    return true;
}

static double seconds_of(const struct timeval *t) { return (double)t->tv_sec + 1e-6 * (double)t->tv_usec; }

void clock_watch_start(const clock_watch *watch, clock_span *span)
{
    struct rusage usage;
    if (!watch) return;
    if (!processors_busy(&span->busy_s, &span->stolen_s)) span->busy_s = span->stolen_s = NAN;
    span->own_s = getrusage(RUSAGE_SELF, &usage) == 0 ? seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime) : NAN;
    span->wall_s = cnn_now();
}

static void read_gpu(const nvml *gpu, clock_report *report)
{
    nvml_reading now;
    nvml_read(gpu, &now);
    report->readings++;
    report->throttled += now.throttled;
    if (report->sm_low_mhz == 0 || now.sm_mhz < report->sm_low_mhz) report->sm_low_mhz = now.sm_mhz;
    if (now.sm_mhz > report->sm_high_mhz) report->sm_high_mhz = now.sm_mhz;
    if (now.temperature > report->temperature) report->temperature = now.temperature;
    if (now.power_mw > report->power_mw) report->power_mw = now.power_mw;
    report->sm_max_mhz = now.sm_max_mhz;
}

void clock_watch_look(const clock_watch *watch, clock_report *report)
{
    if (watch && watch->gpu) read_gpu(watch->gpu, report);
}

static double least_of(double known, double seconds) { return known == 0 || seconds < known ? seconds : known; }

static void add_handover(clock_watch *watch, clock_report *r)
{
    const double seconds = cpu_handover(watch->threads);
    if (isnan(seconds)) return;
    watch->nearest_s = least_of(watch->nearest_s, seconds);
    r->handover_nearest_s = watch->nearest_s;
    r->handover_low_s = least_of(r->handover_low_s, seconds);
    if (seconds > r->handover_high_s) r->handover_high_s = seconds;
}

void clock_watch_stop(clock_watch *watch, const clock_span *span, clock_report *report)
{
    clock_span now;
    if (!watch) return;
    clock_watch_look(watch, report);
    if (!watch->host) return;
    clock_watch_start(watch, &now);
    report->wall_s += now.wall_s - span->wall_s;
    report->busy_s += now.busy_s - span->busy_s;
    report->own_s += now.own_s - span->own_s;
    report->stolen_s += now.stolen_s - span->stolen_s;
    report->processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    add_handover(watch, report);
}

double clock_foreign(const clock_report *r)
{
    if (r->wall_s < least_wall || r->processors < 1) return NAN;
    const double share = (r->busy_s - r->own_s + r->stolen_s) / (r->wall_s * r->processors);
    return share < 0 ? 0 : share; /* not fmax(), to which a NaN is nothing: what cannot be read is not told */
}

bool clock_moved(double near, double far) { return near > 0 && far > far_apart && far > moving * near; }

unsigned clock_marks(const clock_report *r)
{
    const bool disturbed = clock_foreign(r) > disturbing; /* a NaN tells nothing */
    const bool apart =
        !disturbed && clock_moved(r->handover_nearest_s, r->handover_high_s); /* other work slows that down, too */
    return (disturbed ? BENCH_DISTURBED : 0) | (apart ? BENCH_APART : 0) | (r->throttled > 0 ? BENCH_THROTTLED : 0);
}

void clock_record(cnn_record *record, const clock_report *r)
{
    const double foreign = clock_foreign(r);
    if (!isnan(foreign)) record_real(record, "foreign", foreign);
    if (r->handover_high_s > 0) record_real(record, "handover_ns_min", 1e9 * r->handover_low_s);
    if (r->handover_high_s > 0) record_real(record, "handover_ns_max", 1e9 * r->handover_high_s);
    if (r->readings == 0) return;
    record_int(record, "sm_mhz_min", r->sm_low_mhz);
    record_int(record, "sm_mhz_max", r->sm_high_mhz);
    record_int(record, "sm_mhz_limit", r->sm_max_mhz);
    record_int(record, "temperature_c", r->temperature);
    record_real(record, "power_w", r->power_mw * 1e-3);
    record_bool(record, "throttled", r->throttled > 0);
}
