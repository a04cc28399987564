/* It pretends nothing: the honest implementation, the control that must be PASSED everywhere. */
#include "shared/cheat.h"

static void cheat(tables *t) {}
CHEAT(honest)
