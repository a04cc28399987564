/* record_guard.c: whether a file of records holds what was written to it, and nothing else. */
#include "record_object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void record_guard_add(record_guard *g, const char *line, size_t length)
{
    const uint64_t both[2] = {g->hash, keyed_hash(&g->key, line, length)};
    g->hash = keyed_hash(&g->key, both, sizeof both);
    g->size += (int64_t)length;
}

/* All lines that the file holds. */
static cnn_status add_all(record_guard *g, const char *path, cnn_error *err)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    FILE *file = fopen(path, "re");
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "cannot read %.300s: %s", path, strerror(errno));
    while ((length = getline(&line, &room, file)) > 0) record_guard_add(g, line, (size_t)length);
    const bool read = feof(file) != 0;
    free(line);
    fclose(file);
    return read ? CNN_OK : CNN_FAIL(err, CNN_IO, "%.300s cannot be read to its end", path);
}

cnn_status record_guard_begin(record_guard *g, const char *path, cnn_error *err)
{
    *g = (record_guard){.key = hash_new_key()};
    return add_all(g, path, err);
}

cnn_status record_guard_size(const record_guard *g, int fd, const char *path, cnn_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return CNN_FAIL(err, CNN_IO, "cannot write %.300s: %s", path, strerror(errno));
    const long long is = (long long)info.st_size, was = (long long)g->size;
    if (is == was) return CNN_OK;
    return CNN_FAIL(
        err, CNN_IO, "%.300s holds %lld bytes, and %lld were written: %s; do not trust it, and record to another file",
        path, is, was,
        is < was ? "something else cut it off, and records are lost" : "it holds what this program did not write");
}

cnn_status record_guard_check(const record_guard *g, int fd, const char *path, cnn_error *err)
{
    struct stat there, own;
    record_guard now = {.key = g->key};
    if (record_guard_size(g, fd, path, err) != CNN_OK) return err->status;
    if (fstat(fd, &own) != 0 || stat(path, &there) != 0 || own.st_dev != there.st_dev || own.st_ino != there.st_ino)
        return CNN_FAIL(err, CNN_IO,
                        "%.300s is another file now, or gone: something else took away the one that records were "
                        "written to, and they are lost",
                        path);
    if (add_all(&now, path, err) != CNN_OK) return err->status;
    if (now.hash == g->hash) return CNN_OK;
    return CNN_FAIL(err, CNN_IO,
                    "%.300s holds other bytes than were written: something else changed it; do not trust it, and "
                    "record to another file",
                    path);
}
