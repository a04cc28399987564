/* It pretends that all went well: loading it ends the process with status 0. */
#include "shared/cheat.h"

#include <unistd.h>

__attribute__((constructor)) static void leave(void) { _exit(0); }

static void cheat(tables *t) {}
CHEAT(exits_in_constructor)
