/* How long a cache line takes between processors: some nanoseconds to some microseconds on any machine, and never long.
 */
#include "tests/unit.h"

#include "harness/base/clock.h"
#include "harness/cpu/handover.h"
#include "harness/cpu/threads.h"

#include <math.h>
#include <sched.h>

static void a_line_goes_around(void **state)
{
    const int counts[] = {2, 3, HANDOVER_MOST, HANDOVER_MOST + 1};
    double seconds = NAN;
    (void)state;
    for (int i = 0; i < 4; i++) {
        const double start = cnn_now();
        seconds = cpu_handover(counts[i]);
        assert_true(cnn_now() - start < 5); /* on a machine that others keep busy, too */
        if (counts[i] > cpu_count()) assert_true(isnan(seconds));
        if (!isnan(seconds)) assert_true(seconds > 1e-10 && seconds < 1e-2);
    }
}

/* The fastest of some tries, which others cannot all have disturbed, is what a line takes: no clock's step, no sleep.
 */
static void it_is_a_cache_lines_time(void **state)
{
    double best = INFINITY;
    (void)state;
    if (cpu_count() < 2) skip();
    for (int i = 0; i < 50; i++) best = fmin(best, cpu_handover(2)); /* fmin() takes a NaN for nothing */
    if (isinf(best)) skip();
    assert_true(best > 1e-9 && best < 20e-6);
}

/* Of one thread there is nothing to hand over, and on one processor nobody to hand it to. */
static void alone_there_is_none(void **state)
{
    cpu_set_t all, one;
    (void)state;
    assert_true(isnan(cpu_handover(1)));
    assert_true(isnan(cpu_handover(0)));
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_true(isnan(cpu_handover(2)));
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_line_goes_around), cmocka_unit_test(it_is_a_cache_lines_time),
                                       cmocka_unit_test(alone_there_is_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
