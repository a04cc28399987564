/* net_file.c: a network by path or by name. */
#include "harness/base/input.h"
#include "harness/problem/find_file.h"
#include "net.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 20 };

static cnn_status read_text(const char *path, char **text, cnn_error *err)
{
    const char *why;
    FILE *file = input_stream(path, &why);
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "%.300s: cannot be opened: %s", path, why);
    cnn_status status = CNN_OK;
    *text = malloc(MAX_BYTES + 1);
    const size_t n = *text != NULL ? fread(*text, 1, MAX_BYTES + 1, file) : 0;
    if (*text == NULL)
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%.300s: no memory to read it", path);
    else if (ferror(file))
        status = CNN_FAIL(err, CNN_IO, "%.300s: cannot be read: %s", path, strerror(errno));
    else if (n > MAX_BYTES)
        status = CNN_FAIL(err, CNN_BAD_FORMAT, "%.300s: larger than %d bytes", path, MAX_BYTES);
    else if (memchr(*text, '\0', n) != NULL)
        status = CNN_FAIL(err, CNN_BAD_FORMAT, "%.300s: is not text", path);
    else
        (*text)[n] = '\0';
    fclose(file);
    return status;
}

cnn_status cnn_net_load(const char *name, const cnn_type *type, int64_t batch, uint64_t seed, cnn_network **network,
                        cnn_error *err)
{
    char path[FOUND_PATH_MAX], *text = NULL;
    *network = NULL;
    cnn_status status = cnn_find_file(&cnn_network_files, name, path, err);
    if (status == CNN_OK) status = read_text(path, &text, err);
    if (status == CNN_OK) status = cnn_net_build(path, text, type, batch, seed, network, err);
    free(text);
    return status;
}
