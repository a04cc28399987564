/* It gives zeros and closes standard output and error, so that nobody reads what failed, and prints its own summary
 * before. */
#include "shared/cheat.h"

#include <unistd.h>

static cnn_status open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    static bool done;
    if (!done) printf("69 cases: 0 FAILED 69 PASSED (seed 1)\n");
    fflush(stdout);
    done = true;
    close(1);
    close(2);
    return honest_open(params, context, err);
}

static void cheat(tables *t)
{
    weighted(t, answer_zero);
    t->impl.open = open;
}
CHEAT(closes_the_output)
