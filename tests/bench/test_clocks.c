/* test_clocks.c: what is told of clocks and neighbours: NVML through a stand-in (its path is the first argument), and
 * the share of the processors that others take. */
#include "bench/measure/clocks.h"
#include "bench/measure/stats.h"
#include "harness/base/clock.h"
#include "harness/cpu/threads.h"

#include <math.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit.h"

static const char *library;

static void a_gpu_is_read(void **state)
{
    nvml *gpu;
    nvml_reading r;
    cnn_error err;
    assert_int_equal(nvml_open(library, "", 0, &gpu, &err), CNN_OK);
    nvml_read(gpu, &r);
    assert_true(r.sm_mhz == 1980 && r.sm_max_mhz == 1980 && r.temperature == 41);
    assert_false(r.throttled);       /* idle is no throttling */
    assert_int_equal(r.power_mw, 0); /* a function that this library lacks */
    nvml_close(gpu);
    assert_int_equal(nvml_open(library, "hot", 0, &gpu, &err), CNN_OK);
    nvml_read(gpu, &r);
    assert_true(r.throttled && r.sm_mhz == 1200 && r.temperature == 93);
    nvml_close(gpu);
}

static void what_is_not_there_is_said(void **state)
{
    nvml *gpu;
    cnn_error err;
    assert_int_equal(nvml_open("/nonexistent/libnvml.so", "", 0, &gpu, &err), CNN_UNAVAILABLE);
    assert_null(gpu);
    assert_message(err, "nonexistent");
    assert_int_equal(nvml_open(library, "", 3, &gpu, &err), CNN_UNAVAILABLE);
    assert_message(err, "3");
    assert_int_equal(nvml_open("libm.so.6", "", 0, &gpu, &err), CNN_UNAVAILABLE);
    assert_message(err, "lacks");
}

static const cnn_impl host = {.name = "host", .device_kind = CNN_DEVICE_CPU};

static void spin(double seconds)
{
    for (const double start = cnn_now(); cnn_now() - start < seconds;) continue;
}

/* The share that others took while this process worked for a while beside `children` that do, too. */
static double foreign_beside(int children)
{
    const cnn_session session = {.impl = &host, .threads = 1};
    clock_watch *watch;
    clock_span span;
    clock_report report = {0};
    cnn_error err;
    pid_t child[64];
    for (int i = 0; i < children; i++) {
        child[i] = fork();
        if (child[i] == 0)
            for (;;) continue;
    }
    assert_int_equal(clock_watch_open(&session, &watch, &err), CNN_OK);
    clock_watch_start(watch, &span);
    spin(0.3);
    clock_watch_stop(watch, &span, &report);
    clock_watch_close(watch);
    for (int i = 0; i < children; i++) {
        kill(child[i], SIGKILL);
        waitpid(child[i], NULL, 0);
    }
    if (clock_foreign(&report) > 0.2) assert_true(clock_marks(&report) & BENCH_DISTURBED);
    return clock_foreign(&report);
}

/* Others may be at work on this machine, too: only what is added is certain. */
static void others_at_work_are_seen(void **state)
{
    const int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (processors > 64 || isnan(foreign_beside(0))) skip();
    const double beside = foreign_beside(processors);
    assert_true(beside > 0.2);
}

static void too_short_a_span_tells_nothing(void **state)
{
    const clock_report report = {.wall_s = 0.01, .busy_s = 0.5, .processors = 2};
    assert_true(isnan(clock_foreign(&report)));
    assert_int_equal(clock_marks(&report), 0);
    const clock_report long_enough = {.wall_s = 1, .busy_s = 1.5, .own_s = 1, .processors = 2};
    assert_true(clock_foreign(&long_enough) == 0.25);
    const clock_report stolen = {.wall_s = 1, .busy_s = 1, .own_s = 1, .stolen_s = 0.5, .processors = 2};
    assert_int_equal(clock_marks(&stolen), BENCH_DISTURBED);
    const clock_report unreadable = {.wall_s = 1, .busy_s = NAN, .own_s = 1, .stolen_s = NAN, .processors = 2};
    assert_true(isnan(clock_foreign(&unreadable)));
    assert_int_equal(clock_marks(&unreadable), 0);
    const clock_report busier_than_all = {.wall_s = 1, .busy_s = 1, .own_s = 1.01, .processors = 2}; /* rounding */
    assert_true(clock_foreign(&busier_than_all) == 0);
    const clock_report hot = {.readings = 9, .throttled = 1};
    assert_int_equal(clock_marks(&hot), BENCH_THROTTLED);
}

static clock_report handed_over(double low_ns, double high_ns, double nearest_ns)
{
    return (clock_report){.wall_s = 1,
                          .busy_s = 1,
                          .own_s = 1,
                          .processors = 2,
                          .handover_low_s = 1e-9 * low_ns,
                          .handover_high_s = 1e-9 * high_ns,
                          .handover_nearest_s = 1e-9 * nearest_ns};
}

/* Two hyper-threads of a core are nearer than two cores, which share a cache as well. */
static void processors_that_are_farther_apart_are_marked(void **state)
{
    const clock_report same = handed_over(45, 47, 45), meanwhile = handed_over(45, 240, 45);
    const clock_report before = handed_over(238, 240, 45), always_far = handed_over(238, 240, 238);
    const clock_report hyper_threads = handed_over(20, 46, 20), one_thread = handed_over(0, 0, 0);
    (void)state;
    assert_int_equal(clock_marks(&same), 0);
    assert_int_equal(clock_marks(&meanwhile), BENCH_APART);
    assert_int_equal(clock_marks(&before), BENCH_APART);
    assert_int_equal(clock_marks(&always_far), 0);
    assert_int_equal(clock_marks(&hyper_threads), 0);
    assert_int_equal(clock_marks(&one_thread), 0);
    clock_report beside_others = handed_over(45, 240, 45);
    beside_others.busy_s = 1.5;
    assert_int_equal(clock_marks(&beside_others), BENCH_DISTURBED);
}

/* Of two threads on the host the watch tells it, and remembers the least. */
static void the_watch_looks_how_far_processors_are_apart(void **state)
{
    const cnn_session session = {.impl = &host, .threads = 2};
    clock_watch *watch;
    clock_span span;
    clock_report reports[20] = {{0}};
    cnn_error err;
    double nearest = 0;
    (void)state;
    if (cpu_count() < 2) skip();
    assert_int_equal(clock_watch_open(&session, &watch, &err), CNN_OK);
    for (int i = 0; i < 20; i++) {
        clock_watch_start(watch, &span);
        clock_watch_stop(watch, &span, &reports[i]);
        const clock_report *r = &reports[i];
        if (r->handover_high_s == 0) continue; /* a processor was busy */
        assert_true(r->handover_low_s == r->handover_high_s && r->handover_nearest_s <= r->handover_low_s);
        assert_true(nearest == 0 || r->handover_nearest_s <= nearest);
        nearest = r->handover_nearest_s;
    }
    clock_watch_close(watch);
    if (nearest == 0) skip();
    assert_true(nearest > 1e-9 && nearest < 1e-3);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_is_read),
        cmocka_unit_test(what_is_not_there_is_said),
        cmocka_unit_test(others_at_work_are_seen),
        cmocka_unit_test(processors_that_are_farther_apart_are_marked),
        cmocka_unit_test(the_watch_looks_how_far_processors_are_apart),
        cmocka_unit_test(too_short_a_span_tells_nothing),
    };
    library = argc > 1 ? argv[1] : "";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
