/* It pretends nothing: the honest implementation with a whole training step of its own, the control for the cheats of
 * trainers. */
#include "shared/cheat.h"

static void cheat(tables *t) { trainer(t, honest_step_run); }
CHEAT(honest_trainer)
