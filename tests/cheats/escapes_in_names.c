/* It gives zeros, and its algorithm, its doc and its reasons hold escape sequences that go up, wipe the line and
 * write PASSED. */
#include "shared/cheat.h"

static const cnn_algorithm algorithms[] = {{.name = "loops\033[1A\033[2K\rexact PASSED\n",
                                            .doc = "\033]0;PASSED\007\033[8m",
                                            .ops = HONEST_OPS,
                                            .amplification = 1}};

static void cheat(tables *t)
{
    weighted(t, answer_zero);
    t->impl.algorithms = algorithms;
    t->impl.doc = "direct\033[2J\033[H69 cases: 0 FAILED 69 PASSED (seed 1)\033[8m";
}
CHEAT(escapes_in_names)
