/* It pretends to use the threads that it was given, but half of each batch is computed by a process that shares its
 * memory, whose parent has ended: the system hands it to another one. */
#include "shared/cheat.h"

#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct half {
    cnn_conv_desc d;
    cnn_dir dir;
    cnn_weighted_args a;
};

static struct half theirs;
static sem_t begin, done;
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

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    struct half mine = {as_conv(&plan->problem), plan->dir, *a};
    const int64_t n = mine.d.mb / 2, nx = n * mine.d.ic * mine.d.ih * mine.d.iw;
    const int64_t ny = n * mine.d.oc * mine.d.oh * mine.d.ow;
    if (plan->dir != CNN_FWD || n == 0 || !has_helper()) return honest_weighted(c, plan, a, err);
    theirs = mine;
    theirs.d.mb = n, mine.d.mb -= n;
    mine.a.x = (const float *)a->x + nx, mine.a.y = (float *)a->y + ny;
    sem_post(&begin);
    conv_low(&mine.d, mine.dir, &mine.a, 0);
    while (sem_wait(&done) != 0) continue;
    return CNN_OK;
}

KERNEL_CHEAT(helper_orphan)
