/* nvml.c: the few functions of the library that only read. Their types are part of its stable ABI: an opaque pointer,
 * int for its status (0: success), unsigned for what it counts. */
#include "clocks.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct nvml_device nvml_device; /* opaque */

/* nvml.h: NVML_CLOCK_SM, NVML_TEMPERATURE_GPU, and the reasons for which a clock is lower than asked for: software
 * power cap 4, hardware slowdown 8, thermal slowdown by software 0x20 or hardware 0x40, power brake 0x80. (An idle
 * device, a fixed application clock and boost kept equal among several are no throttling.) */
enum { CLOCK_SM = 1, TEMPERATURE_GPU = 0, THROTTLED = 0x4 | 0x8 | 0x20 | 0x40 | 0x80 };

typedef struct nvml_memory {
    unsigned long long total, free, used; /* bytes */
} nvml_memory;

typedef struct nvml_rates {
    unsigned gpu, memory; /* percent of the time in which a kernel ran, and in which memory was read or written */
} nvml_rates;

struct nvml {
    void *library;
    nvml_device *device;
    int (*shutdown)(void);
    int (*clock)(nvml_device *, int, unsigned *);
    int (*max_clock)(nvml_device *, int, unsigned *);
    int (*temperature)(nvml_device *, int, unsigned *);
    int (*power)(nvml_device *, unsigned *);
    int (*reasons)(nvml_device *, unsigned long long *);
    int (*energy)(nvml_device *, unsigned long long *); /* millijoules; since Volta */
    int (*rates)(nvml_device *, nvml_rates *);
    int (*memory)(nvml_device *, nvml_memory *);
};

/* A function pointer from a data pointer: POSIX allows it, ISO C has no cast for it. */
static void find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
}

static cnn_status find_device(nvml *n, const char *pci_bus_id, int device, cnn_error *err)
{
    int (*init)(void), (*by_number)(unsigned, nvml_device **), (*by_bus)(const char *, nvml_device **);
    find(n->library, "nvmlInit_v2", &init);
    find(n->library, "nvmlDeviceGetHandleByIndex_v2", &by_number);
    find(n->library, "nvmlDeviceGetHandleByPciBusId_v2", &by_bus);
    find(n->library, "nvmlShutdown", &n->shutdown);
    if (!init || !by_number || !by_bus || !n->shutdown)
        return CNN_FAIL(err, CNN_UNAVAILABLE, "NVML lacks functions that every driver since 2013 has");
    int code = init();
    if (code != 0) {
        n->shutdown = NULL;
        return CNN_FAIL(err, CNN_UNAVAILABLE, "nvmlInit fails with code %d", code);
    }
    code = pci_bus_id[0] ? by_bus(pci_bus_id, &n->device) : by_number((unsigned)device, &n->device);
    if (code != 0) return CNN_FAIL(err, CNN_UNAVAILABLE, "NVML does not know device %d %s", device, pci_bus_id);
    return CNN_OK;
}

cnn_status nvml_open(const char *library, const char *pci_bus_id, int device, nvml **result, cnn_error *err)
{
    *result = NULL;
    nvml *n = calloc(1, sizeof *n);
    if (!n) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for NVML");
    n->library = dlopen(library ? library : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    cnn_status status = n->library ? find_device(n, pci_bus_id, device, err)
                                   : CNN_FAIL(err, CNN_UNAVAILABLE, "no NVML: %.200s", dlerror());
    if (status != CNN_OK) {
        nvml_close(n);
        return status;
    }
    find(n->library, "nvmlDeviceGetClockInfo", &n->clock);
    find(n->library, "nvmlDeviceGetMaxClockInfo", &n->max_clock);
    find(n->library, "nvmlDeviceGetTemperature", &n->temperature);
    find(n->library, "nvmlDeviceGetPowerUsage", &n->power);
    find(n->library, "nvmlDeviceGetCurrentClocksThrottleReasons", &n->reasons);
    find(n->library, "nvmlDeviceGetTotalEnergyConsumption", &n->energy);
    find(n->library, "nvmlDeviceGetUtilizationRates", &n->rates);
    find(n->library, "nvmlDeviceGetMemoryInfo", &n->memory);
    *result = n;
    return CNN_OK;
}

void nvml_read(const nvml *n, nvml_reading *reading)
{
    unsigned long long reasons = 0;
    *reading = (nvml_reading){0};
    if (n->clock && n->clock(n->device, CLOCK_SM, &reading->sm_mhz) != 0) reading->sm_mhz = 0;
    if (n->max_clock && n->max_clock(n->device, CLOCK_SM, &reading->sm_max_mhz) != 0) reading->sm_max_mhz = 0;
    if (n->temperature && n->temperature(n->device, TEMPERATURE_GPU, &reading->temperature) != 0)
        reading->temperature = 0;
    if (n->power && n->power(n->device, &reading->power_mw) != 0) reading->power_mw = 0;
    if (n->reasons && n->reasons(n->device, &reasons) == 0) reading->throttled = (reasons & THROTTLED) != 0;
}

bool nvml_joules(const nvml *n, double *joules)
{
    unsigned long long millijoules;
    if (!n->energy || n->energy(n->device, &millijoules) != 0) return false;
    *joules = (double)millijoules * 1e-3;
    return true;
}

double nvml_utilisation(const nvml *n)
{
    nvml_rates rates;
    return n->rates && n->rates(n->device, &rates) == 0 ? rates.gpu * 0.01 : NAN;
}

int64_t nvml_memory_used(const nvml *n)
{
    nvml_memory memory;
    return n->memory && n->memory(n->device, &memory) == 0 && memory.used <= INT64_MAX ? (int64_t)memory.used : 0;
}

void nvml_close(nvml *n)
{
    if (!n) return;
    if (n->shutdown) (void)n->shutdown();
    if (n->library) dlclose(n->library);
    free(n);
}
