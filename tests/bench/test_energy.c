/* test_energy.c: joules of a span, by counters that grow as is known: NVML's stand-in (its path is the first argument),
 * and files of RAPL's form. */
#include "bench/measure/clocks.h"
#include "bench/measure/energy.h"
#include "harness/base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit.h"

/* As fake_nvml.c has them. */
static const double idle_w = 100, busy_w = 400;

static const char *library;
static const cnn_impl host = {.name = "host", .device_kind = CNN_DEVICE_CPU},
                      gpu = {.name = "gpu", .device_kind = CNN_DEVICE_CUDA},
                      emulated = {.name = "emulated", .device_kind = CNN_DEVICE_EMULATED};

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A span in which the process computes; how long it lasts, and what the stand-in's counter is to grow by. */
static void a_span_of_work(void **state)
{
    const cnn_session session = {.impl = &gpu};
    const energy_places places = {.nvml = library};
    energy_meter *meter;
    energy_report report;
    cnn_error err;
    assert_int_equal(energy_open(&session, &places, &meter, &err), CNN_OK);
    assert_int_equal(energy_begin(meter, &err), CNN_OK);
    assert_false(energy_enough(meter));
    const double start = cnn_now(), worked = cpu_now();
    while (!energy_enough(meter)) energy_look(meter);
    const double wall = cnn_now() - start, work = cpu_now() - worked;
    assert_true(wall > 0.99 * ENERGY_SECONDS);
    assert_int_equal(energy_end(meter, &report, &err), CNN_OK);
    energy_close(meter);
    assert_string_equal(report.by, "NVML");
    assert_true(fabs(report.seconds - wall) < 0.02 * wall);
    const double expected = idle_w * wall + busy_w * work;
    assert_true(fabs(report.joules - expected) < 0.03 * expected);
    assert_true(report.idle_watts > 0.97 * idle_w && report.idle_watts < idle_w + 0.25 * busy_w); /* naps take little */
    assert_true(fabs(report.utilisation - 0.75) < 1e-6);
    assert_int_equal(report.memory_used, INT64_C(3) << 30);
}

static void what_cannot_be_measured_is_said(void **state)
{
    const struct {
        const cnn_impl *impl;
        int device;
        const char *nvml, *says;
    } cases[] = {
        {&gpu, 0, "/nonexistent/libnvml.so", "nonexistent"},
        {&gpu, 1, NULL, "tells no energy of device 1"},
        {&gpu, 3, NULL, "does not know device 3"},
        {&emulated, 0, NULL, "emulated"},
        {&host, 0, NULL, "no processor's counter of energy (RAPL) is in /nonexistent"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const cnn_session session = {.impl = cases[i].impl, .device = cases[i].device};
        const energy_places places = {cases[i].nvml ? cases[i].nvml : library, "/nonexistent"};
        energy_meter *meter;
        cnn_error err;
        assert_int_equal(energy_open(&session, &places, &meter, &err), CNN_UNAVAILABLE);
        assert_null(meter);
        assert_message(err, cases[i].says);
    }
}

/* The counter of device 2 does not move: a span with it has no beginning. */
static void a_counter_that_does_not_move_is_said(void **state)
{
    const cnn_session session = {.impl = &gpu, .device = 2};
    const energy_places places = {.nvml = library};
    energy_meter *meter;
    cnn_error err;
    assert_int_equal(energy_open(&session, &places, &meter, &err), CNN_OK);
    assert_int_equal(energy_begin(meter, &err), CNN_UNAVAILABLE);
    assert_message(err, "did not move");
    energy_close(meter);
}

static void put(const char *folder, const char *zone, const char *file, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, zone);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/%s", folder, zone, file);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void zone(const char *folder, const char *name, const char *is, const char *energy)
{
    put(folder, name, "name", is);
    put(folder, name, "max_energy_range_uj", "1000000000\n");
    put(folder, name, "energy_uj", energy);
}

static void packages_are_added_up(void **state)
{
    char folder[] = "/tmp/test_energy_XXXXXX", command[64];
    rapl *r;
    double joules;
    cnn_error err;
    assert_non_null(mkdtemp(folder));
    zone(folder, "intel-rapl:0", "package-0\n", "999000000\n");
    zone(folder, "intel-rapl:1", "package-1\n", "5000000\n");
    zone(folder, "intel-rapl:0:0", "core\n", "7\n"); /* a part of a package */
    zone(folder, "intel-rapl:2", "psys\n", "7\n");   /* of which packages are a part */
    assert_int_equal(rapl_open(folder, &r, &err), CNN_OK);
    put(folder, "intel-rapl:0", "energy_uj", "2000000\n"); /* past its range: 3 J */
    put(folder, "intel-rapl:1", "energy_uj", "5500000\n");
    put(folder, "intel-rapl:0:0", "energy_uj", "800000000\n");
    put(folder, "intel-rapl:2", "energy_uj", "800000000\n");
    assert_true(rapl_joules(r, &joules));
    assert_true(fabs(joules - 3.5) < 1e-9);
    put(folder, "intel-rapl:0", "energy_uj", "4000000\n");
    assert_true(rapl_joules(r, &joules));
    assert_true(fabs(joules - 5.5) < 1e-9);
    put(folder, "intel-rapl:1", "energy_uj", "\n");
    assert_false(rapl_joules(r, &joules));
    rapl_close(r);
    assert_int_equal(rapl_open(folder, &r, &err), CNN_UNAVAILABLE);
    assert_message(err, "intel-rapl:1/energy_uj cannot be read");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): a folder of this test
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_of_work),
        cmocka_unit_test(what_cannot_be_measured_is_said),
        cmocka_unit_test(a_counter_that_does_not_move_is_said),
        cmocka_unit_test(packages_are_added_up),
    };
    library = argc > 1 ? argv[1] : "";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
