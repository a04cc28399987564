/* registry.h: which implementations a run can choose from: those built in, then its plug-ins, then one that was
 * made for this run, then pairs. */
#ifndef HARNESS_DEVICE_REGISTRY_H
#define HARNESS_DEVICE_REGISTRY_H

#include "impl.h"

typedef struct cnn_left_out {
    const char *name, *why;
} cnn_left_out;

const cnn_left_out *cnn_impls_left_out(void); /* not built; ends with a NULL name */

/* A plug-in's table as this benchcnn's cnn.h has it: what a smaller one lacks is NULL. */
typedef struct cnn_impl_copy {
    cnn_impl impl;
    cnn_operations ops;
} cnn_impl_copy;
/* impl_check.c: also checks it, as cnn_impl_check() does. */
cnn_status cnn_impl_take(const cnn_impl *given, cnn_impl_copy *copy, cnn_error *err);

enum { CNN_PLUGINS_MAX = 16, CNN_JOINED_MAX = 16 };
struct cnn_registry {
    cnn_impl_copy *plugins[CNN_PLUGINS_MAX];
    void *handles[CNN_PLUGINS_MAX]; /* NULL: of a separate one, which its table begins */
    int n_plugins;
    const cnn_impl *made; /* put in by cnn_registry_put(), not owned; NULL: none */
    cnn_impl *joined[CNN_JOINED_MAX];
    int n_joined;
};

/* plugin.c: loads the implementation that the shared object at `path` exports through cnn_plugin() (see cnn.h).
 * CNN_UNAVAILABLE with the file and what is wrong: no such file, no shared object, no such function, another interface
 * version, an incomplete table, a name that is taken. It runs the shared object's own code: load what you trust. */
cnn_status cnn_registry_load(cnn_registry *registry, const char *path, cnn_error *err);
/* One implementation that the program made; it must outlive the registry. CNN_BAD_ARGUMENT: its name is taken. */
cnn_status cnn_registry_put(cnn_registry *registry, const cnn_impl *impl, cnn_error *err);
/* "A+B" becomes an implementation of that name, if it is none yet; both are there already. */
cnn_status cnn_registry_join(cnn_registry *registry, const char *name, cnn_error *err);
void cnn_registry_close(cnn_registry *registry); /* when no session of a plug-in is open any more */

#endif
