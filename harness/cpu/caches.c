/* caches.c: from /sys, which knows what a virtual machine was given; sysconf() asks the processor, which on some tells
 * of all its caches together, though one core reaches only its own part. */
#include "caches.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int read_text(int index, const char *name, char *text, int size)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    const int found = fgets(text, size, file) != NULL;
    fclose(file);
    return found;
}

size_t cpu_cache_bytes(int level)
{
    enum { INDICES = 8 };
    char text[32];
    for (int i = 0; i < INDICES; i++) {
        int found;
        size_t size;
        char unit = 'B';
        if (!read_text(i, "level", text, (int)sizeof text) || sscanf(text, "%d", &found) != 1 || found != level)
            continue;
        if (!read_text(i, "type", text, (int)sizeof text) || strncmp(text, "Instruction", 11) == 0) continue;
        if (!read_text(i, "size", text, (int)sizeof text) || sscanf(text, "%zu%c", &size, &unit) < 1) continue;
        return unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : size;
    }
    static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    const long bytes = level >= 1 && level <= 3 ? sysconf(names[level - 1]) : 0;
    return bytes > 0 ? (size_t)bytes : 0;
}

size_t cpu_last_cache_bytes(size_t least)
{
    size_t most = least;
    for (int level = 1; level <= 3; level++)
        if (cpu_cache_bytes(level) > most) most = cpu_cache_bytes(level);
    return most;
}
