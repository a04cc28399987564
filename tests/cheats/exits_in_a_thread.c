/* It gives zeros, and a thread of its own ends the process with status 0, which the call waits for. */
#include "shared/cheat.h"

#include <pthread.h>
#include <unistd.h>

static void *leave(void *p) { _exit(p != NULL); }

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static bool begun;
    pthread_t thread;
    if (!begun) begun = pthread_create(&thread, NULL, leave, NULL) == 0 && pthread_join(thread, NULL) == 0;
    return answer_zero(c, plan, a, err);
}

KERNEL_CHEAT(exits_in_a_thread)
