/* energy.h: the electric energy of work that is repeated one behind the other: by the counter of its GPU (NVML), or of
 * the host's processors (RAPL).
 *
 * These counters are of the whole device, whoever uses it, and take a step only every 1 to 100 ms. So a span begins and
 * ends with a step, and lasts at least ENERGY_SECONDS. What the device takes when idle is measured before it. */
#ifndef BENCH_MEASURE_ENERGY_H
#define BENCH_MEASURE_ENERGY_H

#include "harness/device/impl.h"
#include "harness/record/record.h"

#define ENERGY_SECONDS 5.0

typedef struct energy_meter energy_meter;

typedef struct energy_report {
    const char *by;                     /* "NVML", "RAPL"; NULL: nothing was measured */
    double joules, seconds, idle_watts; /* of the span; idle: in the second before it */
    double utilisation;                 /* share of the time in which a kernel of the GPU ran; NaN: not known */
    int64_t memory_used;                /* bytes of the GPU's memory, the most seen, of all programs; 0: not known */
    int64_t epochs, images;             /* the caller's: what was done in the span; the training images of an epoch */
} energy_report;

/* Where counters are looked for. A member that is NULL: the system's own. */
typedef struct energy_places {
    const char *nvml, *powercap; /* the library; the folder of RAPL's zones */
} energy_places;

/* Of the session's device. CNN_UNAVAILABLE says why there is no counter. */
cnn_status energy_open(const cnn_session *session, const energy_places *places, energy_meter **result, cnn_error *err);
void energy_close(energy_meter *meter); /* NULL is accepted */

/* Takes more than a second, in which the device is to be idle; the span begins when it returns. CNN_UNAVAILABLE where
 * the counter does not move. */
cnn_status energy_begin(energy_meter *meter, cnn_error *err);
/* Now and then within the span, of a GPU also how busy it is. Costs a call of NVML, or a read of a small file. */
void energy_look(energy_meter *meter);
bool energy_enough(const energy_meter *meter); /* the span has lasted ENERGY_SECONDS */
/* The span ends when it is called; returns with the counter's next step. CNN_UNAVAILABLE where it does not move. */
cnn_status energy_end(energy_meter *meter, energy_report *report, cnn_error *err);

double energy_per_epoch(const energy_report *report); /* joules; NaN: nothing was measured */
/* The fields joules_per_epoch, watts ...; none where nothing was measured. */
void energy_record(cnn_record *record, const energy_report *report);
/* "12.1 J an epoch, ...", for people. */
void energy_text(const energy_report *report, char *text, size_t size);

/* rapl.c: counters of the host's processor packages, in /sys/class/powercap or another folder of that form. */
typedef struct rapl rapl;
cnn_status rapl_open(const char *folder, rapl **result, cnn_error *err);
/* Joules of all packages since rapl_open(). The counters wrap, at 100 W after half an hour at the soonest: it is to be
 * called more often. False: one can no longer be read. */
bool rapl_joules(rapl *r, double *joules);
void rapl_close(rapl *r); /* NULL is accepted */

#endif
