/* environment.c: the first record of a run: on what machine, with what build of what libraries, by what command. A
 * figure without these cannot be compared with another. Facts that cannot be read are left out, never invented. */
#include "record_object.h"

#include "build_info.h"
#include "harness/base/input.h"
#include "harness/cpu/limits.h"
#include "harness/cpu/threads.h"
#include "harness/device/call.h"

#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void put_build(cnn_record *record)
{
    record_text(record, "version", BUILD_VERSION);
    record_text(record, "commit", BUILD_COMMIT);
    record_text(record, "compiler", BUILD_COMPILER);
    record_text(record, "flags", BUILD_FLAGS);
    record_text(record, "build_type", BUILD_BUILD_TYPE);
}

static void put_host(cnn_record *record)
{
    char text[512];
    struct utsname system;
    record_text(record, "cpu", cpu_model(text, (int)sizeof text));
    record_int(record, "cores", cpu_count());
    record_int(record, "cores_online", sysconf(_SC_NPROCESSORS_ONLN));
    int64_t pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE), bytes;
    if (cnn_mul(pages, page_bytes, &bytes)) record_int(record, "memory_bytes", bytes);
    if (input_value("/etc/os-release", "PRETTY_NAME", text, sizeof text)) record_text(record, "os", text);
    if (uname(&system) == 0) {
        snprintf(text, sizeof text, "%s %s %s", system.sysname, system.release, system.machine);
        record_text(record, "kernel", text);
    }
}

/* What the figures depend on without anyone having asked for it: frequencies, their governor, other work. */
static void put_clocks(cnn_record *record)
{
    static const char *const governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    static const char *const source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    char text[128];
    double load;
    if (input_value("/proc/cpuinfo", "cpu MHz", text, sizeof text)) record_real(record, "cpu_mhz", strtod(text, NULL));
    if (input_value(governor, NULL, text, sizeof text)) record_text(record, "cpu_governor", text);
    if (input_value(source, NULL, text, sizeof text)) record_text(record, "clock_source", text);
    if (getloadavg(&load, 1) == 1) record_real(record, "load_average", load);
}

static void put_fact(void *user, const char *key, const char *value)
{
    record_text_in(user, "implementation", key, value);
}

static void put_date(cnn_record *record)
{
    char date[32] = "";
    struct tm utc;
    time_t now = time(NULL);
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    record_text(record, "date", date);
}

void record_here(cnn_record *record)
{
    char text[512];
    if (record_get_text(record, "machine") == NULL) record_text(record, "machine", cpu_model(text, (int)sizeof text));
    put_date(record);
}

cnn_status record_environment(record_sink *sink, const cnn_session *session, const char *command_line, cnn_error *err)
{
    cnn_record *record = record_new("env");
    put_date(record);
    record_text(record, "command", command_line);
    put_host(record);
    put_clocks(record);
    put_build(record);
    if (session) {
        record_text(record, "impl", session->impl->name);
        record_int(record, "threads", session->threads);
        record_int(record, "device", session->device);
        record_text_pairs(record, "implementation", NULL, 0); /* it may tell nothing */
        cnn_describe(session, put_fact, record);
    }
    return record_write(sink, record, err);
}
