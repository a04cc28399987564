/* clocks.h: what else the machine did while something was timed. On the host: the share of the processors that other
 * work took (other programs, a hypervisor's other guests), and how far its processors are apart. On a GPU: its clock,
 * temperature, and whether it held its clock down. It only reads. */
#ifndef BENCH_MEASURE_CLOCKS_H
#define BENCH_MEASURE_CLOCKS_H

#include "harness/device/impl.h"
#include "harness/record/record.h"

typedef struct clock_watch clock_watch;

/* Sums over the spans between clock_watch_start() and clock_watch_stop(). */
typedef struct clock_report {
    double wall_s, busy_s, own_s, stolen_s; /* seconds: of the clock; of processors: busy, with us, taken by a host */
    int processors;
    /* cpu_handover() of as many threads as compute: within these spans, and the least since the watch was opened; 0:
     * not known */
    double handover_low_s, handover_high_s, handover_nearest_s;
    unsigned sm_low_mhz, sm_high_mhz, sm_max_mhz, temperature, power_mw; /* 0: no GPU, or not told */
    int readings, throttled; /* of the GPU: how many, and in how many of them its clock was held down */
} clock_report;

/* One of a measurement that is going on; kept by whoever measures. */
typedef struct clock_span {
    double wall_s, busy_s, own_s, stolen_s;
} clock_span;

/* `session` says whose clocks; NVML is looked for where its device is a GPU, and done without where it is missing. */
cnn_status clock_watch_open(const cnn_session *session, clock_watch **result, cnn_error *err);
void clock_watch_close(clock_watch *watch); /* NULL is accepted */
/* NULL is accepted for watch: then nothing is reported. */
void clock_watch_start(const clock_watch *watch, clock_span *span);
void clock_watch_stop(clock_watch *watch, const clock_span *span, clock_report *report);
/* Within a long span: a GPU's clock and temperature, which its end may no longer show. */
void clock_watch_look(const clock_watch *watch, clock_report *report);

/* The share of all processors that others took; NaN where that cannot be told, or in less than 0.05 s (it is counted in
 * hundredths of a second). */
double clock_foreign(const clock_report *report);
/* Whether the farther of two handovers, in seconds, is of processors that lie elsewhere; 0 or a NaN: not known, false.
 */
bool clock_moved(double near, double far);
unsigned clock_marks(const clock_report *report); /* BENCH_DISTURBED, BENCH_APART, BENCH_THROTTLED */
void clock_record(cnn_record *record,
                  const clock_report *report); /* the fields foreign, handover_ns_min, sm_mhz_min ... */

/* What the session's implementation tells of its device under this key, "gpu" say; "" if nothing. */
void machine_fact(const cnn_session *session, const char *key, char *text, size_t size);
/* The name of the session's device: "NVIDIA H200", or the host processor's. */
void machine_name(const cnn_session *session, char *text, size_t size);

/* nvml.c: NVIDIA's management library, looked for at run time: its clock, temperature and throttling can be read where
 * a driver is, and no build needs its header. Nothing here changes a setting of the device. */
typedef struct nvml nvml;

typedef struct nvml_reading {
    unsigned sm_mhz, sm_max_mhz, temperature; /* MHz, MHz, degrees Celsius; 0: not told */
    unsigned power_mw;                        /* milliwatts */
    bool throttled;                           /* the clock is held down for heat, power or a brake signal */
} nvml_reading;

/* `library` NULL: the driver's. The device by its PCI bus id ("0000:3b:00.0"), or by its number where that is "".
 * CNN_UNAVAILABLE says why not. */
cnn_status nvml_open(const char *library, const char *pci_bus_id, int device, nvml **result, cnn_error *err);
void nvml_read(const nvml *n, nvml_reading *reading); /* what cannot be read is 0 */
/* Joules since the driver was loaded. False: the device has no such counter. */
bool nvml_joules(const nvml *n, double *joules);
/* The share of the driver's latest sample period, 1/6 to 1 s, in which a kernel ran; NaN: not known. */
double nvml_utilisation(const nvml *n);
/* Bytes of the device's memory that are in use, by whatever program; 0: not known. */
int64_t nvml_memory_used(const nvml *n);
void nvml_close(nvml *n); /* NULL is accepted */

#endif
