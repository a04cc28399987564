/* registry.c: implementations by name, plug-ins among them. See api.h. */
#include "api.h"

#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>

cnn_status api_registry_new(cnn_registry **registry, cnn_error *err)
{
    *registry = calloc(1, sizeof **registry);
    return *registry != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a list of implementations");
}

cnn_status api_registry_load(cnn_registry *registry, const char *path, cnn_error *err)
{
    return cnn_registry_load(registry, path, err);
}

void api_registry_names(const cnn_registry *registry, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < cnn_impl_count(registry); i++) cnn_append(text, size, "%s ", cnn_impl_at(registry, i)->name);
}

cnn_status api_registry_find(const cnn_registry *registry, const char *name, const cnn_impl **impl,
                             const char **algorithm, cnn_error *err)
{
    char first[CNN_NAME_MAX];
    const char *colon = strchr(name, ':');
    const size_t length = colon != NULL ? (size_t)(colon - name) : strlen(name);
    *impl = NULL;
    *algorithm = colon != NULL ? colon + 1 : NULL;
    if (length == 0 || length >= sizeof first || (colon != NULL && (colon[1] == '\0' || strlen(colon) > sizeof first)))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "'%.200s' is not of the form NAME or NAME:ALGORITHM", name);
    memcpy(first, name, length);
    first[length] = '\0';
    *impl = cnn_impl_find(registry, first, err);
    return *impl != NULL ? CNN_OK : err->status;
}
