/* counters.h: what the processor and the system count while this program works: instructions, cycles, misses, page
 * faults (Linux's perf_event_open). Each thread that lives when counters are opened is counted, and those it starts
 * later. Where a processor has fewer registers than there are events it takes them by turns; then a count is scaled up
 * to the whole time. */
#ifndef HARNESS_CPU_COUNTERS_H
#define HARNESS_CPU_COUNTERS_H

#include "harness/cnn.h"

typedef enum counter_event {
#define COUNTER(name, type, config, mode) COUNTER_##name,
#include "counters.inc"
    COUNTER_COUNT
} counter_event;

const char *counter_name(counter_event event); /* "cache_misses" */

/* "all", or names with commas, as a set of bits 1 << event. CNN_BAD_ARGUMENT names the word, and those that there are.
 */
cnn_status counters_parse(const char *list, uint32_t *events, cnn_error *err);

typedef struct counters counters;

/* What was counted, over all threads. */
typedef struct counter_report {
    uint32_t events;              /* that were asked for, a set of 1 << event; 0: nothing was counted */
    int64_t runs;                 /* the caller's: how often the work was done */
    int64_t count[COUNTER_COUNT]; /* below 0: the system refused it */
    int why[COUNTER_COUNT];       /* then its errno; else 0 */
    double share;                 /* of the time in which the rarest was counted: below 1 where events took turns */
} counter_report;

/* CNN_OUT_OF_MEMORY only: an event that the system refuses is one without a count. To be closed. */
cnn_status counters_open(uint32_t events, counters **result, cnn_error *err);
void counters_close(counters *c); /* NULL is accepted */
/* Once each. */
void counters_start(counters *c);
void counters_stop(counters *c, counter_report *report); /* all but its runs */

/* Why an event was refused with this errno, and what helps. */
const char *counter_why(int error);

#endif
