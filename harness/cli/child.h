/* child.h: a child process that does not outlive its parent. */
#ifndef HARNESS_CLI_CHILD_H
#define HARNESS_CLI_CHILD_H

#include <sys/types.h>

/* fork(), with nothing left in the streams' buffers for both to write. Where the parent is killed, so is the child:
 * it would wait for ever, or go on writing beside the run that takes up its work. */
pid_t child_fork(void);

#endif
