/* replace.h: files that are replaced whole: written beside (NAME.new) and renamed, so that a kill at any moment leaves
 * either the old one or the new one. */
#ifndef HARNESS_BASE_REPLACE_H
#define HARNESS_BASE_REPLACE_H

#include "harness/cnn.h"
#include <stddef.h>

typedef struct file_piece {
    const void *bytes;
    size_t size;
} file_piece;

/* The pieces one behind the other, synced to disk. `what` is what errors call the file: "checkpoint". CNN_IO names it
 * and says why; CNN_BAD_ARGUMENT for a name that is too long. */
cnn_status cnn_replace_file(const char *what, const char *path, const file_piece *pieces, int count, cnn_error *err);
/* Whether it can be written at all: asked before the work that it is to hold. */
cnn_status cnn_replace_check(const char *what, const char *path, cnn_error *err);

#endif
