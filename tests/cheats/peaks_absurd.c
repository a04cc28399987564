/* It pretends that its device has a ceiling of 1e300 operations. */
#include "shared/cheat.h"

static cnn_status open(cnn_context *c, int index, cnn_peak *peak, cnn_error *err)
{
    (void)c, (void)err;
    *peak = (cnn_peak){.what = "fma", .unit = CNN_PEAK_FLOPS, .amount = 1e300};
    if (index == 1) *peak = (cnn_peak){.what = "read", .unit = CNN_PEAK_BYTES, .amount = 1e300};
    return CNN_OK;
}

static cnn_status run(cnn_context *c, const cnn_peak *peak, cnn_error *err)
{
    (void)c, (void)peak, (void)err;
    for (volatile int i = 0; i < 100000; i++) {}
    return CNN_OK;
}

static void close_(cnn_context *c, cnn_peak *peak) { (void)c, (void)peak; }

static void cheat(tables *t) { t->peaks = (cnn_peaks){2, open, run, close_}; }
CHEAT(peaks_absurd)
