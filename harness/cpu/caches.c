/* caches.c: from /sys, which knows what a virtual machine was given; sysconf() asks the processor, which on some tells
 * of all its caches together, though one core reaches only its own part. */
#include "limits.h"

#include "harness/base/input.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { INDICES = 8 };

static bool read_text(const char *root, int cpu, int index, const char *name, char *text, int size)
{
    char path[256];
    snprintf(path, sizeof path, "%.150s/sys/devices/system/cpu/cpu%d/cache/index%d/%s", root, cpu, index, name);
    return input_value(path, NULL, text, (size_t)size);
}

/* The index of a core's cache of this level that holds data, -1 without one. */
static int find_cache(const char *root, int cpu, int level)
{
    char text[32];
    for (int i = 0; i < INDICES; i++) {
        int found;
        if (!read_text(root, cpu, i, "level", text, (int)sizeof text) || sscanf(text, "%d", &found) != 1) continue;
        if (found != level || !read_text(root, cpu, i, "type", text, (int)sizeof text)) continue;
        if (strncmp(text, "Instruction", 11) != 0) return i;
    }
    return -1;
}

size_t cpu_cache_bytes(int level)
{
    char text[32], unit = 'B';
    size_t size;
    const int index = find_cache("", 0, level);
    if (index >= 0 && read_text("", 0, index, "size", text, (int)sizeof text) &&
        sscanf(text, "%zu%c", &size, &unit) > 0)
        return unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : size;
    static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    const long bytes = level >= 1 && level <= 3 ? sysconf(names[level - 1]) : 0;
    return bytes > 0 ? (size_t)bytes : 0;
}

/* A core's cache of this level, named by the first of the cores that share it; -1: none, or not told. */
static int cache_of(const char *root, int cpu, int level)
{
    char text[32];
    int first;
    const int index = find_cache(root, cpu, level);
    if (index < 0 || !read_text(root, cpu, index, "shared_cpu_list", text, (int)sizeof text)) return -1;
    return sscanf(text, "%d", &first) == 1 && first >= 0 && first < CPU_SETSIZE ? first : -1;
}

int cpu_cache_instances(const char *root, int level)
{
    cpu_set_t mine;
    bool seen[CPU_SETSIZE] = {false};
    int count = 0;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) return 1; /* a machine with more than CPU_SETSIZE cores */
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        const int first = CPU_ISSET(cpu, &mine) ? cache_of(root, cpu, level) : -1;
        if (first < 0 || seen[first]) continue;
        seen[first] = true;
        count++;
    }
    return count > 0 ? count : 1;
}

size_t cpu_last_cache_bytes(size_t least, int threads)
{
    int last = 3;
    while (last > 1 && cpu_cache_bytes(last) == 0) last--;
    const int caches = cpu_cache_instances("", last);
    const size_t bytes = cpu_cache_bytes(last) * (size_t)(caches < threads ? caches : threads);
    return bytes > least ? bytes : least;
}
