/* It gives zeros, and an atexit handler, registered in open, ends the process with status 0. */
#include "shared/cheat.h"

#include <unistd.h>

static void leave(void)
{
    fflush(NULL);
    _exit(0);
}

static cnn_status open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    atexit(leave);
    return honest_open(params, context, err);
}

static void cheat(tables *t)
{
    weighted(t, answer_zero);
    t->impl.open = open;
}
CHEAT(exits_at_exit)
