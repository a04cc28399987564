/* host.h: what happens to kernels on the host: where their arrays lie, what is around them, who is at work. The same
 * questions are asked of a kernel in this process and of one in a process of its own (separate.h). */
#ifndef HARNESS_DEVICE_HOST_H
#define HARNESS_DEVICE_HOST_H

#include "harness/process/bounds.h"
#include "impl.h"

/* `inner` bytes, whole pages, with `fence` bytes before and behind them that the kernel cannot touch; *memory is where
 * all of that begins. Of a session whose memory is the host's. */
cnn_status host_fenced_alloc(const cnn_session *session, size_t inner, size_t fence, void **memory, cnn_error *err);
void host_fenced_free(const cnn_session *session, void *memory, size_t all);

/* bounds_begin() and bounds_end(), where the kernel runs. */
cnn_status host_bounds_begin(const cnn_session *session, bounds_list *b, cnn_error *err);
cnn_status host_bounds_end(const cnn_session *session, bounds_list *b, cnn_error *err);

/* Bytes of the heap of the process that the kernel runs in; 0 throughout where nobody counts them. */
int64_t host_heap_in_use(const cnn_session *session);
int64_t host_heap_here(void);
/* Whether a thread of that process runs, or would if a processor were free: but for the caller, and the `count` ids
 * `but`. */
bool host_others_busy(const cnn_session *session, const int *but, int count);

#endif
