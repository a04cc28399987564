/* It pretends to have ceilings, whose amount is NaN. */
#include "shared/cheat.h"

static void cheat(tables *t) { own_peaks(t, NAN); }
CHEAT(peaks_nan)
