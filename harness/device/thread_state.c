/* thread_state.c: see impl.h. The C standard's fegetenv() would tell the same portably, but takes ten times as
 * long, and this stands behind every call of an implementation, timed ones included. */
#include "impl.h"

#include <fenv.h>
#include <locale.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static const char rounding[] = "the rounding mode changed", flushing[] = "denormal numbers flushed to zero",
                  trapping[] = "floating-point exceptions raising signals";

/* The flags of exceptions that have occurred are nobody's concern: every inexact sum sets one. */
#if defined(__x86_64__)
enum { SSE_USUAL = 0x1F80, SSE_TRAPS = 0x1F80, SSE_ROUNDING = 0x6000, SSE_FLUSHING = 0x8040 };
enum { X87_TRAPS = 0x3F, X87_ROUNDING = 0xF00, X87_USUAL = 0x33F }; /* rounding: its precision, too */

static const char *what_changed(void)
{
    uint16_t x87;
    const unsigned sse = _mm_getcsr();
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    if ((sse & SSE_TRAPS) != SSE_TRAPS || (x87 & X87_TRAPS) != X87_TRAPS) return trapping;
    if ((sse & SSE_ROUNDING) != 0 || (x87 & X87_ROUNDING) != (X87_USUAL & X87_ROUNDING)) return rounding;
    return (sse & SSE_FLUSHING) != 0 ? flushing : NULL;
}

static void restore(void)
{
    fesetenv(FE_DFL_ENV);
    _mm_setcsr(SSE_USUAL); /* older C libraries leave "denormals are zeros" on */
}
#elif defined(__aarch64__)
static const char *what_changed(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    if (control & 0x9F00u) return trapping;
    return control & 0xC00000u ? rounding : control & 0x1080000u ? flushing : NULL;
}

static void restore(void) { fesetenv(FE_DFL_ENV); }
#else
static const char *what_changed(void)
{
    (void)flushing, (void)trapping;
    return fegetround() != FE_TONEAREST ? rounding : NULL;
}

static void restore(void) { fesetenv(FE_DFL_ENV); }
#endif

const char *cnn_thread_restore(void)
{
    const char *changed = what_changed();
    if (changed != NULL) restore();
    const locale_t c =
        newlocale(LC_ALL_MASK, "C", (locale_t)0); /* one object, made with the program: nothing to free */
    if (c != (locale_t)0 && uselocale((locale_t)0) != c) uselocale(c);
    return changed;
}
