/* It says that it has -1 algorithms and a million knobs. */
#include "shared/cheat.h"

static const cnn_knob knobs[] = {{.name = "k", .doc = "a knob", .max = 1}};

static void cheat(cnn_impl *t)
{
    t->n_algorithms = -1;
    t->knobs = knobs, t->n_knobs = 1000000;
}
CHEAT(negative_counts)
