/* region.h: memory that two processes see at the same address, and the blocks that one of them gives out of it. Pages
 * that nobody has touched take no memory. */
#ifndef HARNESS_PROCESS_REGION_H
#define HARNESS_PROCESS_REGION_H

#include "harness/cnn.h"

#include <pthread.h>

typedef struct region_block {
    size_t at, bytes;
} region_block;

typedef struct region {
    char *start;
    size_t bytes;
    pthread_mutex_t lock;
    region_block *blocks; /* in order, in memory that is not shared */
    int count, capacity;
} region;

/* Of so many bytes; *fd: a file of it, for the other process, whose size nobody can change. */
cnn_status region_make(region *r, size_t bytes, int *fd, cnn_error *err);
void region_free(region *r);
/* In the other process: all of it, closed: region_open() opens whole pages. */
cnn_status region_join(void *start, size_t bytes, int fd, cnn_error *err);
bool region_open(void *first, size_t bytes, bool open);

/* A block of whole pages, all zeros; at least a page on both sides is nobody's. NULL: there is no room. */
void *region_take(region *r, size_t bytes);
/* Of an address in the first page of a block: where the block begins, and how large it is; NULL: it is of none. */
void *region_block_of(region *r, const void *address, size_t *bytes);
/* NULL is accepted. */
void region_give(region *r, void *block);

#endif
