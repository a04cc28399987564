/* fake_nvml.c: a shared object with NVML's functions, for a machine without a GPU. Device 0 is fine; the one with the
 * bus id "hot" is throttled by heat. Device 0 takes 100 W, and 400 W more while this process computes; its counter of
 * energy takes a step every 20 ms. Device 1 has no such counter, that of device 2 does not move. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <time.h>

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device);
int nvmlDeviceGetClockInfo(const void *device, int type, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(const void *device, int type, unsigned *mhz);
int nvmlDeviceGetTemperature(const void *device, int sensor, unsigned *degrees);
int nvmlDeviceGetCurrentClocksThrottleReasons(const void *device, unsigned long long *reasons);

typedef struct fake_memory {
    unsigned long long total, free, used;
} fake_memory;

typedef struct fake_rates {
    unsigned gpu, memory;
} fake_rates;

int nvmlDeviceGetTotalEnergyConsumption(const void *device, unsigned long long *millijoules);
int nvmlDeviceGetUtilizationRates(const void *device, fake_rates *rates);
int nvmlDeviceGetMemoryInfo(const void *device, fake_memory *memory);

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, CLOCK_SM = 1, HARDWARE_THERMAL = 0x40, IDLE = 1 };
static char fine, hot, no_counter, still;

int nvmlInit_v2(void) { return SUCCESS; }
int nvmlShutdown(void) { return SUCCESS; }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = index == 1 ? &no_counter : index == 2 ? &still : &fine;
    return index <= 2 ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device)
{
    *device = &hot;
    return strcmp(bus, "hot") == 0 ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetClockInfo(const void *device, int type, unsigned *mhz)
{
    *mhz = type != CLOCK_SM ? 1 : device == &hot ? 1200 : 1980;
    return SUCCESS;
}

int nvmlDeviceGetMaxClockInfo(const void *device, int type, unsigned *mhz)
{
    (void)device;
    *mhz = type == CLOCK_SM ? 1980 : 1;
    return SUCCESS;
}

int nvmlDeviceGetTemperature(const void *device, int sensor, unsigned *degrees)
{
    (void)sensor;
    *degrees = device == &hot ? 93 : 41;
    return SUCCESS;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(const void *device, unsigned long long *reasons)
{
    *reasons = device == &hot ? HARDWARE_THERMAL : IDLE;
    return SUCCESS;
}

static long long microseconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (long long)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int nvmlDeviceGetTotalEnergyConsumption(const void *device, unsigned long long *millijoules)
{
    enum { STEP = 20000, IDLE_W = 100, BUSY_W = 400 }; /* STEP: microseconds */
    static long long last, counted;
    const long long wall = microseconds(CLOCK_MONOTONIC), work = microseconds(CLOCK_PROCESS_CPUTIME_ID);
    if (wall / STEP > last) {
        last = wall / STEP;
        counted = (wall * IDLE_W + work * BUSY_W) / 1000;
    }
    *millijoules = device == &still ? 1 : (unsigned long long)counted;
    return device == &no_counter ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetUtilizationRates(const void *device, fake_rates *rates)
{
    (void)device;
    *rates = (fake_rates){75, 30};
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(const void *device, fake_memory *memory)
{
    (void)device;
    *memory = (fake_memory){80ull << 30, 77ull << 30, 3ull << 30};
    return SUCCESS;
}
