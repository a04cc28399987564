/* It has no algorithm and serves no operation, so that nothing can fail. */
#include "shared/cheat.h"

static void cheat(tables *t) { t->impl.n_algorithms = 0; }
CHEAT(no_algorithm_at_all)
