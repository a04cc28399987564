/* It pretends that its rounding bound is NaN, so that no comparison with it fails, and gives zeros. */
#include "shared/cheat.h"

static void cheat(tables *t)
{
    weighted(t, answer_zero);
    claim(honest_algorithms, NAN);
}
CHEAT(amplification_nan)
