/* interrupt.c: Ctrl-C. The first one only sets a flag, which long runs look at between steps, so that they can finish
 * the record in hand; the second one ends the process at once, in case a step hangs. A signal handler can reach nothing
 * but a global: this flag. It is atomic, since a library's thread may be the one that is interrupted, and may be shared
 * by several processes: then it is set whichever of them the signal reaches. */
#include "interrupt.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#if ATOMIC_INT_LOCK_FREE != 2
#error "a signal handler may touch only what needs no lock"
#endif
static atomic_int own, *interrupted = &own;

static void on_interrupt(int signal_number, siginfo_t *info, void *context)
{
    static const char message[] = "\nbenchcnn: stopping after the current step (Ctrl-C again: at once)\n";
    const int before = errno; /* of whatever was interrupted */
    (void)signal_number, (void)context;
    if (info->si_pid == getpid()) { /* raised by a kernel: nobody has pressed a key */
        interrupt_catch();
        return;
    }
    if (atomic_exchange(interrupted, 1) != 0) return; /* another process has said it */
    ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
    (void)ignored;
    errno = before;
}

void interrupt_catch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_sigaction = on_interrupt;
    /* RESETHAND: the second one finds the default action. RESTART: no read or write of ours fails with EINTR. */
    action.sa_flags = (int)(SA_SIGINFO | SA_RESETHAND | SA_RESTART);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void interrupt_share(atomic_int *flag) { interrupted = flag; }

bool interrupt_seen(void) { return atomic_load(interrupted) != 0; }
