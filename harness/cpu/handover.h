/* handover.h: how long a cache line takes from one processor to the next: short where they share a cache, several times
 * as long where they do not. Threads that work on one thing wait for each other so long, again and again. A virtual
 * machine's host may move its processors meanwhile, and nothing else shows it. */
#ifndef HARNESS_CPU_HANDOVER_H
#define HARNESS_CPU_HANDOVER_H

enum { HANDOVER_MOST = 16 };

/* Seconds: a line goes around a thread on each of so many of the processors that this process may use, up to
 * HANDOVER_MOST, spread over all; the mean of its steps in the fastest of several goes. Takes 0.15 ms for two threads
 * on idle processors; gives up after 10 ms. NaN: of one thread, of more than processors, or where a processor was not
 * to be had. */
double cpu_handover(int threads);

#endif
