/* plugin.c: implementations from outside the tree: a shared object with one known function. */
#include "harness/base/text.h"
#include "impl.h"
#include "joined.h"
#include "registry.h"
#include "separate.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Names end up in --impl lists, settings and records. */
static bool plain_name(const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_') return false;
    return length > 0 && length < CNN_NAME_MAX / 2;
}

static cnn_status take(const cnn_registry *registry, const cnn_impl *given, cnn_impl_copy *copy, cnn_error *err)
{
    const cnn_impl *impl = &copy->impl;
    if (given == NULL) return CNN_FAIL(err, CNN_UNAVAILABLE, "cnn_plugin() returns NULL");
    const cnn_status status = cnn_impl_take(given, copy, err);
    if (status != CNN_OK) return status;
    if (!plain_name(impl->name))
        return CNN_FAIL(err, CNN_UNAVAILABLE, "its name is '%.64s', but must be of letters, digits and _, less than %d",
                        impl->name, CNN_NAME_MAX / 2);
    for (int i = 0; i < cnn_impl_count(registry); i++)
        if (strcmp(cnn_impl_at(registry, i)->name, impl->name) == 0)
            return CNN_FAIL(err, CNN_UNAVAILABLE,
                            "there is an implementation named '%s' already: give this one another name in the field "
                            "'name' of its cnn_impl",
                            impl->name);
    return CNN_OK;
}

/* A path without a slash would be looked for where the system keeps its libraries. */
static void *load(const char *path, cnn_error *err)
{
    char here[4096];
    struct stat info;
    snprintf(here, sizeof here, "%s%s", strchr(path, '/') != NULL ? "" : "./", path);
    if (stat(here, &info) == 0 && !S_ISREG(info.st_mode)) { /* dlopen() would wait for a FIFO */
        CNN_FAIL(err, CNN_UNAVAILABLE, "plug-in %.200s: it is no file", path);
        return NULL;
    }
    void *handle = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    (void)cnn_thread_restore(); /* -ffast-math links a constructor in that flushes denormal numbers */
    if (handle == NULL) CNN_FAIL(err, CNN_UNAVAILABLE, "plug-in %.200s: %.280s", path, dlerror());
    return handle;
}

cnn_status cnn_registry_load(cnn_registry *registry, const char *path, cnn_error *err)
{
    union {
        void *object;
        const cnn_impl *(*function)(void);
    } symbol; /* what POSIX means by dlsym() and C has no cast for */
    if (registry->n_plugins == CNN_PLUGINS_MAX)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "plug-in %.200s: more than %d plug-ins", path, CNN_PLUGINS_MAX);
    void *handle = load(path, err);
    if (handle == NULL) return err->status;
    cnn_status status = CNN_OK;
    const cnn_impl *impl = NULL;
    cnn_impl_copy *copy = malloc(sizeof *copy);
    symbol.object = dlsym(handle, "cnn_plugin");
    if (symbol.object == NULL)
        status = CNN_FAIL(err, CNN_UNAVAILABLE, "it exports no function cnn_plugin(); see impl_template");
    if (status == CNN_OK) impl = symbol.function();
    (void)cnn_thread_restore();
    if (copy == NULL) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for its table");
    if (status == CNN_OK) status = take(registry, impl, copy, err);
    if (status != CNN_OK) {
        dlclose(handle);
        free(copy);
        return cnn_error_before(err, status, "plug-in %.200s: ", path);
    }
    registry->handles[registry->n_plugins] = handle;
    registry->plugins[registry->n_plugins++] = copy;
    return CNN_OK;
}

cnn_status cnn_registry_add_separate(cnn_registry *registry, separate *s, const char *path, cnn_error *err)
{
    cnn_impl_copy checked;
    const cnn_status status = registry->n_plugins == CNN_PLUGINS_MAX
                                  ? CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d plug-ins", CNN_PLUGINS_MAX)
                                  : take(registry, &s->copy.impl, &checked, err);
    if (status != CNN_OK) {
        separate_stop(s);
        return cnn_error_before(err, status, "plug-in %.200s: ", path);
    }
    registry->handles[registry->n_plugins] = NULL;
    registry->plugins[registry->n_plugins++] = &s->copy;
    return CNN_OK;
}

void cnn_registry_close(cnn_registry *registry)
{
    while (registry->n_joined > 0) joined_free(registry->joined[--registry->n_joined]);
    while (registry->n_plugins > 0) {
        void *handle = registry->handles[--registry->n_plugins];
        cnn_impl_copy *copy = registry->plugins[registry->n_plugins];
        if (handle == NULL) {
            separate_stop((separate *)copy);
            continue;
        }
        dlclose(handle);
        free(copy);
    }
}
