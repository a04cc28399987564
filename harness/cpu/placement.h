/* placement.h: where a hypervisor has put our cores.
 *
 * It may run a virtual machine's processors on any of its own, and move them from minute to minute, without a word in
 * what the system tells of cores and caches. On cores far from each other a cache line takes four times as long from
 * one to the other, so that small parallel work takes twice as long; on the two threads of one core each has half of
 * it. Both last, so the samples of one process agree, and neither is time that others take. */
#ifndef HARNESS_CPU_PLACEMENT_H
#define HARNESS_CPU_PLACEMENT_H

enum { CPU_PAIRS_MOST = 8 };

typedef struct cpu_pairs {
    int count;
    struct {
        int one, other;
    } list[CPU_PAIRS_MOST];
} cpu_pairs;

/* The worst pair's figures, each the best of many runs, so that other work does not count; 0 where nothing was told. */
typedef struct cpu_placement {
    double exchange_s; /* of a cache line, there and back; measured: 80 to 100 ns under one cache, 350 to 430 apart */
    double slowdown;   /* of one core while the other works, too; measured: 1, and 1.7 to 1.76 on one core */
} cpu_placement;

/* Neighbours among the first `threads` processors that this process may run on: pairs that are two cores and share the
 * last-level cache, if the system is right. `root` stands before /sys: "", but for tests. */
void cpu_pairs_find(const char *root, int threads, cpu_pairs *pairs);
/* Takes some 0.3 ms a pair. Raises what stands in *worst. */
void cpu_placement_look(const cpu_pairs *pairs, cpu_placement *worst);

#endif
