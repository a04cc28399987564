/* It says that it has three algorithms and two knobs, where both tables are NULL. */
#include "shared/cheat.h"

static void cheat(tables *t)
{
    t->impl.algorithms = NULL, t->impl.n_algorithms = 3;
    t->impl.knobs = NULL, t->impl.n_knobs = 2;
}
CHEAT(null_tables)
