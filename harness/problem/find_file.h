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

extern const file_kind cnn_network_files, cnn_problem_files, cnn_recipe_files;

/* Each name of this kind in the folders where cnn_find_file() looks; one may come twice. */
void cnn_each_file(const file_kind *kind, void (*each)(void *user, const char *name), void *user);

/* A file that is the program's own, in the folders alone: below the working directory, beside the program or up to two
 * folders above, where it was installed, in its sources. */
bool cnn_find_own(const file_kind *kind, const char *name, char path[FOUND_PATH_MAX]);

/* A file by its path, or by its name in the folders. CNN_BAD_ARGUMENT offers the nearest name. */
cnn_status cnn_find_file(const file_kind *kind, const char *name, char path[FOUND_PATH_MAX], cnn_error *err);

#endif
