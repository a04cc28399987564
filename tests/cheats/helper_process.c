/* It pretends to use the threads that it was given, but half of each batch is computed by a process of its own, which
 * shares its memory and is no thread. */
#include "shared/helper.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

static _Alignas(64) char stack[1 << 16];

static int help(void *none)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        if (sem_wait(&begin) != 0) continue;
        conv_low(&theirs.d, theirs.dir, &theirs.a, 0);
        sem_post(&done);
    }
    return 0;
}

static bool has_helper(void)
{
    static int helper;
    if (helper == 0 && sem_init(&begin, 1, 0) == 0 && sem_init(&done, 1, 0) == 0)
        helper = clone(help, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
    return helper > 0;
}

KERNEL_CHEAT(helper_process)
