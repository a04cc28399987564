/* busy.h: how many threads some work kept busy, by the processor time of each thread of this process, and of each
 * process that it has started, or these have, and that child_adopt() hands to it: a child counts as a thread. Time on a
 * processor is exact, and shares of it are the same on a machine that others use, too.
 *
 * A thread that lived before and after the work tells its own time. Of threads that came and went in between only the
 * sum is known: it is cut to pieces of the work's length, for no single thread can have done more. So what is said here
 * is never more than there was. Where the system hides the threads, nothing is said: all is 0. */
#ifndef HARNESS_CPU_BUSY_H
#define HARNESS_CPU_BUSY_H

#include "../cnn.h"

typedef struct busy_thread {
    int id; /* negative: a process's */
    double seconds;
} busy_thread;

typedef struct busy_look {
    busy_thread *list;
    int count, capacity; /* count 0: nothing is known */
    double process;      /* seconds of all threads, of those that ended, too; exact where none but the caller runs */
    double reaped;       /* seconds of children that ended and were waited for */
    bool exact;
} busy_look;

typedef struct busy_span {
    busy_look before, quiet, after;
    double wall;      /* the length of the work */
    double set_aside; /* of the calling thread's time: not of the work */
    double paused_at;
} busy_span;

typedef struct busy_work {
    double seconds, beyond, wall; /* of all threads; of all but the `most` busiest; the length of the work */
    int threads;                  /* the fewest that did nine tenths */
    bool exact;                   /* else threads that ended are left out: others were running all the time */
} busy_work;

/* Waits for other threads that still spin, a hundredth of a second at most. */
void busy_start(busy_span *span);
/* Between the two, what the calling thread does is not of the work. */
void busy_pause(busy_span *span);
void busy_go_on(busy_span *span);
/* Frees the span, too. */
busy_work busy_stop(busy_span *span, int most);

/* Whether another thread of this process runs, or would if a processor were free: one that is not of the `count` ids
 * `but`. */
bool busy_others(const int *but, int count);
/* The same of any thread of another process. */
bool busy_process(int process);

#endif
