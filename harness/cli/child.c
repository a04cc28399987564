/* child.c: see child.h. */
#include "child.h"

#include <signal.h>
#include <stdio.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <unistd.h>

pid_t child_fork(void)
{
    fflush(NULL);
    const pid_t parent = getpid(), pid = fork();
    (void)parent;
#ifdef __linux__
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* kept when the child becomes another program */
        if (getppid() != parent) _exit(1);      /* it died before that */
    }
#endif
    return pid;
}
