/* files.c: writing a file in one go, and making the folder that data sets are written to with those above it. */
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

cnn_status data_write_file(const char *path, const void *head, size_t head_bytes, const void *body, size_t body_bytes,
                           cnn_error *err)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "%s: cannot be written: %s", path, strerror(errno));
    errno = 0;
    const bool whole =
        fwrite(head, 1, head_bytes, file) == head_bytes && fwrite(body, 1, body_bytes, file) == body_bytes;
    const int why = errno;
    if (fclose(file) != 0 || !whole)
        return CNN_FAIL(err, CNN_IO, "%s: cannot be written whole: %s", path, strerror(whole ? errno : why));
    return CNN_OK;
}
