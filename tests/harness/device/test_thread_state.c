/* test_thread_state.c: an implementation that leaves the thread's arithmetic or locale changed harms nobody else. */
#include "tests/unit.h"

#include "harness/device/call.h"

#include <fenv.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static cnn_status behave(int which) { return which == 0 ? CNN_OK : CNN_INTERNAL; }

static cnn_status round_up(int which)
{
    fesetround(FE_UPWARD);
    return CNN_OK;
}

static cnn_status round_up_and_fail(int which)
{
    fesetround(FE_UPWARD);
    return CNN_DEVICE;
}

#if defined(__x86_64__)
static cnn_status flush_results(int which)
{
    _mm_setcsr(_mm_getcsr() | 0x8000);
    return CNN_OK;
}

static cnn_status flush_operands(int which)
{
    _mm_setcsr(_mm_getcsr() | 0x40);
    return CNN_OK;
}

static cnn_status trap(int which)
{
    feenableexcept(FE_INEXACT | FE_INVALID);
    return CNN_OK;
}

static cnn_status shorten_x87(int which)
{
    const uint16_t control = 0x7F; /* sums of 24 bits */
    __asm__ volatile("fldcw %0" : : "m"(control));
    return CNN_OK;
}
#endif

typedef struct table {
    const char *name;
    cnn_status (*conv_fwd)(int which);
} table;

static cnn_status call(const table *impl, cnn_error *err) { return CNN_CALL(impl, conv_fwd, err, 0); }

static void assert_default(void)
{
    volatile double third = 1.0, small = 0x1p-1022, half = 0.5;
    volatile long double precise = 1.0L;
    third /= 3.0;
    small *= half; /* a denormal number */
    assert_true(third < 0x1.5555555555556p-2);
    assert_true(small > 0.0 && small * 2.0 > 0.0);
    precise += LDBL_EPSILON;
    assert_true(precise > 1.0L);
    assert_int_equal(fegetround(), FE_TONEAREST);
    assert_int_equal(fegetexcept(), 0);
}

static void arithmetic_is_put_back_and_told(void **state)
{
    static const struct {
        table impl;
        const char *told;
    } rows[] = {
        {{"a", round_up}, "a: conv_fwd left the rounding mode changed"},
#if defined(__x86_64__)
        {{"b", flush_results}, "b: conv_fwd left denormal numbers flushed to zero"},
        {{"c", flush_operands}, "c: conv_fwd left denormal numbers flushed to zero"},
        {{"d", trap}, "d: conv_fwd left floating-point exceptions raising signals"},
        {{"e", shorten_x87}, "e: conv_fwd left the rounding mode changed"},
#endif
        {{"f", round_up_and_fail}, "f: conv_fwd returned the status"}
    };
    const table good = {"good", behave};
    cnn_error err;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(call(&rows[i].impl, &err), CNN_DEVICE);
        assert_int_equal(err.status, CNN_DEVICE);
        assert_non_null(strstr(err.message, rows[i].told));
        assert_default();
        assert_int_equal(call(&good, &err), CNN_OK);
    }
}

/* The flags that every inexact sum sets are nothing that was left behind. */
static void flags_are_no_change(void **state)
{
    const table good = {"good", behave};
    cnn_error err;
    feraiseexcept(FE_ALL_EXCEPT);
    assert_int_equal(call(&good, &err), CNN_OK);
}

static void the_locale_is_put_back(void **state)
{
    const table good = {"good", behave};
    const locale_t other = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0), c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    cnn_error err;
    if (other == (locale_t)0) skip();
    uselocale(other);
    assert_int_equal(call(&good, &err), CNN_OK);
    assert_true(uselocale((locale_t)0) == c);
    uselocale(LC_GLOBAL_LOCALE); /* which setlocale() changes, in any thread */
    assert_null(cnn_thread_restore());
    assert_true(uselocale((locale_t)0) == c);
    freelocale(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_is_put_back_and_told),
        cmocka_unit_test(flags_are_no_change),
        cmocka_unit_test(the_locale_is_put_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
