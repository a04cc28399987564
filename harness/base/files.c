/* files.c: what stands where a file is to be read back, or written. */
#include "files.h"

#include <string.h>
#include <sys/stat.h>

bool cnn_is_plain_file(const char *path)
{
    struct stat info;
    return path != NULL && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

cnn_status cnn_check_replaced(const char *path, const char *what, const char *beginning, cnn_error *err)
{
    char begins[64];
    const size_t length = strlen(beginning);
    FILE *file = cnn_is_plain_file(path) ? fopen(path, "re") : NULL;
    if (file == NULL) return CNN_OK; /* what cannot be read is told when it cannot be written */
    const size_t got = fread(begins, 1, length < sizeof begins ? length : sizeof begins, file);
    fclose(file);
    if (got == 0 || memcmp(begins, beginning, got) == 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%.300s is there, and is no %s that could be replaced: name another file",
                    path, what);
}
