/* folders.c: makes the folder that data sets are written to, and those above it. */
#include "data_parts.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

cnn_status data_make_folders(const char *folder, cnn_error *err)
{
    char path[DATASET_PATH_MAX];
    if (folder[0] == '\0') return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the folder's name is empty");
    if (strlen(folder) > 900)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the folder's name '%.64s...' has more than 900 characters", folder);
    snprintf(path, sizeof path, "%s", folder);
    for (char *p = path + 1;; p++) {
        const char c = *p;
        if (c != '/' && c != '\0') continue;
        *p = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return CNN_FAIL(err, CNN_IO, "%s: cannot be made: %s", path, strerror(errno));
        *p = c;
        if (c == '\0') return CNN_OK;
    }
}
