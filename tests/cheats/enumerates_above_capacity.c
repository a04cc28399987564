/* It says that it enumerated a million algorithms where there is room for fewer, and wrote only one. */
#include "shared/cheat.h"

static cnn_status enumerate(cnn_context *c, const cnn_request *request, cnn_algorithm *list, int capacity, int *count,
                            cnn_error *err)
{
    if (capacity > 0) list[0] = honest_algorithms[0];
    *count = 1000000;
    return CNN_OK;
}

static void cheat(tables *t) { t->impl.enumerate = enumerate; }
CHEAT(enumerates_above_capacity)
