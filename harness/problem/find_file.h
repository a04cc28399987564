/* find_file.h: files that come with the program and go by a name: networks and problem files. */
#ifndef HARNESS_PROBLEM_FIND_FILE_H
#define HARNESS_PROBLEM_FIND_FILE_H

#include "harness/cnn.h"

enum { FOUND_PATH_MAX = 1024 };

/* `what` it is ("network"), the folder in which those of the program stand ("bench/nets"), and how their names end
 * (".net"). */
typedef struct file_kind {
    const char *what, *folder, *ending;
} file_kind;

/* A file by its path, or by its name in the folder: below the working directory, beside the program, where it was
 * installed, in its sources. CNN_BAD_ARGUMENT offers the nearest name. */
cnn_status cnn_find_file(const file_kind *kind, const char *name, char path[FOUND_PATH_MAX], cnn_error *err);

#endif
