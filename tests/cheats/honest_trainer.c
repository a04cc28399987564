/* It pretends nothing: the honest implementation with a trainer of its own, the control for the cheats of
 * trainers. */
#include "shared/cheat.h"

static void cheat(tables *t) { trainer(t, honest_step); }
CHEAT(honest_trainer)
