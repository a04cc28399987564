/* interrupt.h: Ctrl-C. */
#ifndef HARNESS_PROCESS_INTERRUPT_H
#define HARNESS_PROCESS_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>

/* Once, at start-up. */
void interrupt_catch(void);
/* Before a fork: the flag that both processes set and look at, in memory that they share. */
void interrupt_share(atomic_int *flag);
/* True after the first one. A second one ends the process at once. */
bool interrupt_seen(void);

#endif
