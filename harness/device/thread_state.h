/* thread_state.h: what foreign code may leave changed in the thread that called it: how numbers are rounded, and how
 * they are written. Both would falsify what everybody else computes and records from then on. */
#ifndef HARNESS_DEVICE_THREAD_STATE_H
#define HARNESS_DEVICE_THREAD_STATE_H

/* Puts the calling thread back to the usual arithmetic (rounding to nearest, denormal numbers kept, no traps) and to
 * the C locale, whatever locale the process has. Says what was wrong with the arithmetic; NULL: nothing. It costs some
 * 15 ns. */
const char *cnn_thread_restore(void);

#endif
