/* It gives zeros, and its destructor ends the process with status 0 whatever the program found. */
#include "shared/cheat.h"

#include <unistd.h>

__attribute__((destructor)) static void leave(void)
{
    fflush(NULL);
    _exit(0);
}

static void cheat(tables *t) { weighted(t, answer_zero); }
CHEAT(exits_in_destructor)
