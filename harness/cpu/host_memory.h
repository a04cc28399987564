/* host_memory.h: whether so much memory can be had: asked before it is taken, since the kernel grants more than there
 * is. */
#ifndef HARNESS_CPU_HOST_MEMORY_H
#define HARNESS_CPU_HOST_MEMORY_H

#include "harness/cnn.h"

/* Bytes that could be had without swapping, here or in this process's control group. */
size_t host_memory_available(void);
/* CNN_OUT_OF_MEMORY, with both figures, where `bytes` are more than `available`; `where` follows "5 (5 MiB)". */
cnn_status host_memory_room(size_t bytes, size_t available, const char *where, cnn_error *err);
/* Of the host's memory. */
cnn_status cnn_host_check(size_t bytes, cnn_error *err);

#endif
