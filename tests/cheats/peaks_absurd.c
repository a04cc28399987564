/* It pretends that its device has a ceiling of 1e300 operations. */
#include "shared/cheat.h"

static void cheat(tables *t) { own_peaks(t, 1e300); }
CHEAT(peaks_absurd)
