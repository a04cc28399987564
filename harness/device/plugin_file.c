/* plugin_file.c: which build of a plug-in it is: the checksum of the file that its code was loaded from. */
#include "call.h"
#include "separate.h"

#include <dlfcn.h>
#include <zlib.h>

static bool checksum_of(const char *path, uLong *crc)
{
    unsigned char bytes[1 << 16];
    size_t count;
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0) *crc = crc32(*crc, bytes, (uInt)count);
    const bool whole = !ferror(file);
    fclose(file);
    return whole;
}

/* Where a function's code stands. */
static bool find(cnn_status (*open)(const cnn_open_params *, cnn_context **, cnn_error *), Dl_info *info)
{
    void *address;
    memcpy(&address, &open, sizeof address);
    return dladdr(address, info) != 0 && info->dli_fname != NULL;
}

/* Any function of this program's own. */
static cnn_status here(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    (void)params, (void)context;
    return CNN_FAIL(err, CNN_INTERNAL, "this is no implementation");
}

void cnn_put_plugin(const cnn_impl *impl, cnn_put_fn *put, void *user)
{
    Dl_info own, its;
    uLong crc = crc32(0, NULL, 0);
    char text[16];
    const separate *s = separate_of(impl);
    if (s == NULL && (!find(here, &own) || !find(impl->open, &its) || its.dli_fbase == own.dli_fbase)) return;
    if (!checksum_of(s != NULL ? s->path : its.dli_fname, &crc)) return;
    snprintf(text, sizeof text, "%08lx", crc);
    put(user, "plugin", text);
}
