#include "limits.h"

#include "harness/base/input.h"

size_t host_memory_available(void)
{
    char text[64];
    size_t kib = 0;
    const size_t left = cgroup_memory_left("");
    if (input_value("/proc/meminfo", "MemAvailable", text, sizeof text)) sscanf(text, "%zu kB", &kib);
    return kib > 0 && kib * 1024 < left ? kib * 1024 : left;
}

static void size_words(size_t bytes, char *text, size_t size)
{
    const bool large = bytes >= (size_t)1 << 30;
    snprintf(text, size, "%.1f %s", (double)bytes / (large ? 0x1p30 : 0x1p20), large ? "GiB" : "MiB");
}

cnn_status host_memory_room(size_t bytes, size_t available, const char *where, cnn_error *err)
{
    if (bytes <= available) return CNN_OK;
    char needed[32], left[32];
    size_words(bytes, needed, sizeof needed);
    size_words(available, left, sizeof left);
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%zu bytes (%s) are needed, but only %zu (%s)%s are free", bytes, needed,
                    available, left, where);
}

cnn_status cnn_host_check(size_t bytes, cnn_error *err)
{
    return host_memory_room(bytes, host_memory_available(), " of host memory", err);
}
