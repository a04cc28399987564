/* child.h: a child process that does not outlive its parent, and that has a last word: an exit status alone proves
 * nothing, since any code in a process can end it with status 0. */
#ifndef CLI_PROCESS_CHILD_H
#define CLI_PROCESS_CHILD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* fork(), with nothing left in the streams' buffers for both to write. Where the parent is killed, so is the child:
 * it would wait for ever, or go on writing beside the run that takes up its work. */
pid_t child_fork(void);

/* In memory that parent and child share; 0 before the child starts. It holds who said the word, and with which status:
 * a copy of the child that foreign code forked cannot say it for the child, nor end with another status. */
typedef _Atomic uint64_t child_word;

/* In the child, when all is done and counted: flushes, says the last word, ends the process. No exit handler and no
 * destructor runs. */
_Noreturn void child_end(child_word *word, int status);
/* In the parent, with what waitpid() gave: whether the child ran to its end, and ended with the status that it said. */
bool child_said(const child_word *word, pid_t pid, int ended);
/* How it ended, in words: "its process was ended by signal 11 (...)", "it ended its process itself, with status
 * 0". */
void child_how(int ended, char *how, size_t size);

#endif
