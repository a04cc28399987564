/* replace.c: see replace.h. */
#include "replace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BESIDE_MAX = 4096 };

static cnn_status name_beside(const char *what, const char *path, char beside[BESIDE_MAX], cnn_error *err)
{
    if (snprintf(beside, BESIDE_MAX, "%s.new", path) < BESIDE_MAX) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the %s's name '%.64s...' has more than %d characters", what, path,
                    BESIDE_MAX - (int)sizeof ".new");
}

static cnn_status cannot_be_written(const char *what, const char *path, int why, cnn_error *err)
{
    return CNN_FAIL(err, CNN_IO, "%s %.300s cannot be written: %s", what, path, strerror(why));
}

cnn_status cnn_replace_check(const char *what, const char *path, cnn_error *err)
{
    char beside[BESIDE_MAX];
    if (name_beside(what, path, beside, err) != CNN_OK) return err->status;
    FILE *file = fopen(beside, "wb");
    if (file == NULL) return cannot_be_written(what, path, errno, err);
    fclose(file);
    remove(beside);
    return CNN_OK;
}

static bool write_pieces(FILE *file, const file_piece *pieces, int count)
{
    for (int i = 0; i < count; i++)
        if (pieces[i].size > 0 && fwrite(pieces[i].bytes, 1, pieces[i].size, file) != pieces[i].size) return false;
    return fflush(file) == 0 && fsync(fileno(file)) == 0;
}

cnn_status cnn_replace_file(const char *what, const char *path, const file_piece *pieces, int count, cnn_error *err)
{
    char beside[BESIDE_MAX];
    if (name_beside(what, path, beside, err) != CNN_OK) return err->status;
    FILE *file = fopen(beside, "wb");
    bool written = file != NULL && write_pieces(file, pieces, count);
    int why = errno;
    if (file != NULL && fclose(file) != 0 && written) written = false, why = errno;
    if (written && rename(beside, path) != 0) written = false, why = errno;
    if (written) return CNN_OK;
    remove(beside);
    return cannot_be_written(what, path, why, err);
}
