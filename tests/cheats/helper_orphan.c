/* It pretends to use the threads that it was given, but half of each batch is computed by a process that shares its
 * memory, whose parent has ended: the system hands it to another one. */
#include "shared/helper.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Alignas(64) char stack[1 << 16], short_stack[1 << 14];

/* A test must not leave it behind: it ends with whom it was handed to, and after ten idle seconds. */
static int help(void *none)
{
    for (;;) {
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += 10;
        if (sem_timedwait(&begin, &end) != 0) _exit(0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        conv_low(&theirs.d, theirs.dir, &theirs.a, 0);
        sem_post(&done);
    }
    return 0;
}

static int hand_over(void *none) { _exit(clone(help, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL) > 0 ? 0 : 1); }

static bool has_helper(void)
{
    static int helper;
    int ended = 1;
    if (helper == 0 && sem_init(&begin, 1, 0) == 0 && sem_init(&done, 1, 0) == 0) {
        const int between = clone(hand_over, short_stack + sizeof short_stack, CLONE_VM | SIGCHLD, NULL);
        helper = between > 0 && waitpid(between, &ended, 0) == between && ended == 0 ? 1 : -1;
    }
    return helper > 0;
}

KERNEL_CHEAT(helper_orphan)
