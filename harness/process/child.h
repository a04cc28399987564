/* child.h: a child process that does not outlive its parent, and that has a last word: an exit status alone proves
 * nothing, since any code in a process can end it with status 0. */
#ifndef HARNESS_PROCESS_CHILD_H
#define HARNESS_PROCESS_CHILD_H

#include "crash.h"
#include "harness/cnn.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* In memory that parent and child share. */
typedef struct child_shared {
    _Atomic uint64_t word; /* who said the last word, and with which status: a copy of the child that foreign code
                              forked cannot say it for the child, nor end with another status */
    _Atomic double began;  /* cnn_now() when what is in hand did; 0: nothing is */
    _Atomic pid_t pid;     /* the child's */
    crash_note crash;      /* where it crashed */
} child_shared;

/* fork(), with nothing left in the streams' buffers for both to write. Where the parent is killed, so is the child, and
 * so is whatever it forks: it would wait for ever, or go on writing beside the run that takes up its work. */
pid_t child_fork(void);
/* Whatever this process forks from here on ends with it, as what child_fork() forks does. */
void child_guard(void);
/* Processes below this one whose parents end become its children from here on, as far as the system has that (Linux):
 * so their work is still counted (busy.h). What is forked does the same by itself. */
void child_adopt(void);
/* child_fork() of one that is known by *c. */
pid_t child_start(child_shared *c);

/* child_fork() of one that `become` turns into another program, or ends; and waits for its end. A terminal's Ctrl-C
 * goes to both; what one process alone sends this one to stop it (kill) is passed on. *stopped: there was either, and
 * the child may have ended for that; *ended as waitpid() has it. CNN_INTERRUPTED: there was one before, and nothing is
 * started. */
typedef void child_become(void *user);
cnn_status child_run(child_become *become, void *user, int *ended, bool *stopped, cnn_error *err);

/* In the child: what is in hand begins, or nothing is. A copy of the child that foreign code forked ends here. */
void child_hand(child_shared *c, bool anything);
/* In the child, when all is done and counted: flushes, says the last word, ends the process. No exit handler and no
 * destructor runs. */
_Noreturn void child_end(child_shared *c, int status);

/* In the parent: waitpid() with `flags`. What is in hand for more than limit_s (0: no limit) ends with the child, which
 * may block every signal but that one; then *hung. */
pid_t child_wait(child_shared *c, pid_t pid, int flags, int64_t limit_s, int *ended, bool *hung);
/* Whether the child ran to its end, and ended with the status that it said. */
bool child_said(const child_shared *c, pid_t pid, int ended);
/* How it ended, in words: "its process was ended by signal 11 (...): it wrote to address 0x0, which is NULL", "it ended
 * its process itself, with status 0". NULL: of one that child_fork() alone made. */
void child_how(const child_shared *c, int ended, char *how, size_t size);

#endif
