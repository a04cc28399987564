/* energy.c: spans between two steps of a counter. */
#include "energy.h"

#include "clocks.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"

#include <math.h>
#include <stdlib.h>

/* Steps are waited for in naps, and for so long; the driver's sample of how busy a GPU is reaches back a second. */
static const double nap_s = 5e-4, wait_s = 2.0, idle_s = 1.0, sample_s = 1.0, look_every = 0.25;

struct energy_meter {
    nvml *gpu; /* one of the two is there */
    rapl *host;
    double from, begun, looked; /* the counter, joules; when the span began, and the GPU was last looked at */
    double idle_watts;
    double busy; /* the sum of the shares that were read */
    int readings;
    int64_t memory_used;
};

static bool counter(energy_meter *m, double *joules)
{
    return m->gpu ? nvml_joules(m->gpu, joules) : rapl_joules(m->host, joules);
}

static void nap(double seconds)
{
    const struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
    (void)nanosleep(&time, NULL);
}

/* Waits for the counter's next step: what it comes to, and when. */
static cnn_status next_step(energy_meter *m, double *joules, double *when, cnn_error *err)
{
    double first;
    bool readable = counter(m, &first);
    for (const double start = cnn_now(); readable && cnn_now() - start < wait_s; nap(nap_s)) {
        readable = counter(m, joules);
        *when = cnn_now();
        if (readable && *joules > first) return CNN_OK;
        if (readable && *joules < first) readable = false; /* it was set back */
    }
    return readable ? CNN_FAIL(err, CNN_UNAVAILABLE, "its counter of energy did not move in %g s", wait_s)
                    : CNN_FAIL(err, CNN_UNAVAILABLE, "its counter of energy can no longer be read");
}

static cnn_status open_gpu(energy_meter *m, const cnn_session *session, const char *library, cnn_error *err)
{
    char bus[64];
    double joules;
    machine_fact(session, "pci_bus_id", bus, sizeof bus);
    const cnn_status status = nvml_open(library, bus, session->device, &m->gpu, err);
    if (status == CNN_OK && !nvml_joules(m->gpu, &joules))
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "NVML tells no energy of device %d: GPUs do from Volta on, and whole ones only",
                        session->device);
    return status;
}

cnn_status energy_open(const cnn_session *session, const energy_places *places, energy_meter **result, cnn_error *err)
{
    *result = NULL;
    if (!cnn_impl_timed(session->impl))
        return CNN_FAIL(err, CNN_UNAVAILABLE, "%s is emulated, and takes no energy of a device", session->impl->name);
    energy_meter *m = calloc(1, sizeof *m);
    if (!m) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to measure energy");
    const cnn_status status = session->impl->device_kind == CNN_DEVICE_CUDA
                                  ? open_gpu(m, session, places ? places->nvml : NULL, err)
                                  : rapl_open(places ? places->powercap : NULL, &m->host, err);
    if (status == CNN_OK)
        *result = m;
    else
        energy_close(m);
    return status;
}

void energy_close(energy_meter *m)
{
    if (!m) return;
    nvml_close(m->gpu);
    rapl_close(m->host);
    free(m);
}

cnn_status energy_begin(energy_meter *m, cnn_error *err)
{
    double from, begun;
    cnn_status status = next_step(m, &from, &begun, err);
    if (status != CNN_OK) return status;
    nap(idle_s);
    status = next_step(m, &m->from, &m->begun, err);
    if (status != CNN_OK) return status;
    m->idle_watts = (m->from - from) / (m->begun - begun);
    m->looked = m->begun + sample_s;
    m->busy = 0;
    m->readings = 0;
    m->memory_used = 0;
    return CNN_OK;
}

static void read_use(energy_meter *m)
{
    const double busy = nvml_utilisation(m->gpu);
    const int64_t used = nvml_memory_used(m->gpu);
    if (!isnan(busy)) m->busy += busy, m->readings++;
    if (used > m->memory_used) m->memory_used = used;
}

void energy_look(energy_meter *m)
{
    double joules;
    const double now = cnn_now();
    if (now - m->looked < look_every) return;
    m->looked = now;
    if (m->gpu)
        read_use(m);
    else
        (void)counter(m, &joules); /* lest it wraps unseen */
}

bool energy_enough(const energy_meter *m) { return cnn_now() - m->begun >= ENERGY_SECONDS; }

/* From the end to the counter's next step the device is taken to be idle. */
cnn_status energy_end(energy_meter *m, energy_report *report, cnn_error *err)
{
    double joules, stepped;
    const double end = cnn_now();
    if (m->gpu) read_use(m);
    const cnn_status status = next_step(m, &joules, &stepped, err);
    if (status != CNN_OK) return status;
    *report = (energy_report){.by = m->gpu ? "NVML" : "RAPL",
                              .joules = joules - m->from - m->idle_watts * (stepped - end),
                              .seconds = end - m->begun,
                              .idle_watts = m->idle_watts,
                              .utilisation = m->readings > 0 ? m->busy / m->readings : NAN,
                              .memory_used = m->memory_used};
    return CNN_OK;
}

double energy_per_epoch(const energy_report *r) { return r->by && r->epochs > 0 ? r->joules / (double)r->epochs : NAN; }

void energy_record(cnn_record *record, const energy_report *r)
{
    if (!r->by || r->epochs == 0) return;
    record_real(record, "joules_per_epoch", energy_per_epoch(r));
    record_real(record, "joules_per_image", energy_per_epoch(r) / (double)r->images);
    record_real(record, "watts", r->joules / r->seconds);
    record_real(record, "idle_watts", r->idle_watts);
    record_real(record, "energy_s", r->seconds);
    record_int(record, "energy_epochs", r->epochs);
    record_text(record, "energy_by", r->by);
    if (!isnan(r->utilisation)) record_real(record, "gpu_utilisation", r->utilisation);
    if (r->memory_used > 0) record_int(record, "memory_used_bytes", r->memory_used);
}

void energy_text(const energy_report *r, char *text, size_t size)
{
    char use[128] = "";
    if (!isnan(r->utilisation))
        snprintf(use, sizeof use, "; the GPU was busy %.0f %% of the time", r->utilisation * 100);
    if (r->memory_used > 0)
        cnn_append(use, sizeof use, ", %.2f GB of its memory were in use", (double)r->memory_used * 1e-9);
    snprintf(text, size,
             "energy: %.4g J an epoch, %.3g mJ a training image: %.0f W over %lld epoch%s in %.2f s, %.0f W idle before"
             "%s (%s)",
             energy_per_epoch(r), energy_per_epoch(r) / (double)r->images * 1e3, r->joules / r->seconds,
             (long long)r->epochs, r->epochs == 1 ? "" : "s", r->seconds, r->idle_watts, use, r->by);
}
