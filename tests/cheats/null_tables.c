/* It says that it has three algorithms and two knobs, where both tables are NULL. */
#include "shared/cheat.h"

static void cheat(cnn_impl *t)
{
    t->algorithms = NULL, t->n_algorithms = 3;
    t->knobs = NULL, t->n_knobs = 2;
}
CHEAT(null_tables)
