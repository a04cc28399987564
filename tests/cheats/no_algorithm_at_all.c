/* It has no algorithm and serves no operation, so that nothing can fail. */
#include "shared/cheat.h"

static void cheat(cnn_impl *t) { t->n_algorithms = 0; }
CHEAT(no_algorithm_at_all)
