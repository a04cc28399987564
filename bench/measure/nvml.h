/* nvml.h: NVIDIA's management library, looked for at run time: its clock, temperature and throttling can be read where
 * a driver is, and no build needs its header. Nothing here changes a setting of the device. */
#ifndef BENCH_MEASURE_NVML_H
#define BENCH_MEASURE_NVML_H

#include "harness/cnn.h"

typedef struct nvml nvml;

typedef struct nvml_reading {
    unsigned sm_mhz, sm_max_mhz, temperature; /* MHz, MHz, degrees Celsius; 0: not told */
    unsigned power_mw;                        /* milliwatts */
    bool throttled;                           /* the clock is held down for heat, power or a brake signal */
} nvml_reading;

/* `library` NULL: the driver's. The device by its PCI bus id ("0000:3b:00.0"), or by its number where that is "".
 * CNN_UNAVAILABLE says why not. */
cnn_status nvml_open(const char *library, const char *pci_bus_id, int device, nvml **result, cnn_error *err);
void nvml_read(const nvml *n, nvml_reading *reading); /* what cannot be read is 0 */
void nvml_close(nvml *n);                             /* NULL is accepted */

#endif
