/* cgroup.h: what this process may take of the machine, where a container, a batch system or systemd has put it into a
 * control group: a part of the memory, a part of the processors' time. The kernel tells neither in /proc/meminfo nor by
 * sched_getaffinity(); who takes more is killed, or stopped for a while. */
#ifndef HARNESS_CPU_CGROUP_H
#define HARNESS_CPU_CGROUP_H

#include <stddef.h>

/* `root` stands before /proc/self/cgroup and /sys/fs/cgroup: "", but for tests. */

/* Bytes that may still be taken, page cache that the kernel can drop counted in; SIZE_MAX: no limit. */
size_t cgroup_memory_left(const char *root);
/* Whole processors that the quota pays for, at least 1: one thread more would be stopped in the middle of its work.
 * INT_MAX: no limit. */
int cgroup_cpus(const char *root);

#endif
