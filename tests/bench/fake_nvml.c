/* fake_nvml.c: a shared object with NVML's functions, for a machine without a GPU. Device 0 is fine; the one with the
 * bus id "hot" is throttled by heat. */
#include <string.h>

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device);
int nvmlDeviceGetClockInfo(const void *device, int type, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(const void *device, int type, unsigned *mhz);
int nvmlDeviceGetTemperature(const void *device, int sensor, unsigned *degrees);
int nvmlDeviceGetCurrentClocksThrottleReasons(const void *device, unsigned long long *reasons);

enum { SUCCESS = 0, NOT_FOUND = 6, CLOCK_SM = 1, HARDWARE_THERMAL = 0x40, IDLE = 1 };
static char fine, hot;

int nvmlInit_v2(void) { return SUCCESS; }
int nvmlShutdown(void) { return SUCCESS; }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = &fine;
    return index == 0 ? SUCCESS : NOT_FOUND;
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
