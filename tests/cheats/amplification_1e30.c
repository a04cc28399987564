/* It pretends that its rounding bound is 1e30 times the usual one, and gives zeros. */
#include "shared/cheat.h"

static void cheat(tables *t)
{
    weighted(t, answer_zero);
    claim(honest_algorithms, 1e30);
}
CHEAT(amplification_1e30)
