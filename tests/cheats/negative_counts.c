/* It says that it has -1 algorithms and a million knobs. */
#include "shared/cheat.h"

static const cnn_knob knobs[] = {{.name = "k", .doc = "a knob", .max = 1}};

static void cheat(tables *t)
{
    t->impl.n_algorithms = -1;
    t->impl.knobs = knobs, t->impl.n_knobs = 1000000;
}
CHEAT(negative_counts)
