/* registry.c: the implementations that were built, from the one generated list (impls.inc). Nothing registers itself:
 * a constructor in a static library is silently left out by the linker. */
#include "registry.h"

#include "harness/problem/names.h"
#include "joined.h"

#include <string.h>

#define CNN_IMPL(name) const cnn_impl *cnn_impl_##name(void);
#define CNN_LEFT_OUT(name, why)
#include "impls.inc"
#undef CNN_IMPL
#undef CNN_LEFT_OUT

typedef const cnn_impl *impl_function(void);

static impl_function *const built[] = {
#define CNN_IMPL(name) cnn_impl_##name,
#define CNN_LEFT_OUT(name, why)
#include "impls.inc"
#undef CNN_IMPL
#undef CNN_LEFT_OUT
    NULL};

static const cnn_left_out left_out[] = {
#define CNN_IMPL(name)
#define CNN_LEFT_OUT(name, why) {#name, why},
#include "impls.inc"
#undef CNN_IMPL
#undef CNN_LEFT_OUT
    {NULL, NULL}};

enum { BUILT = (int)(sizeof built / sizeof built[0]) - 1 };

int cnn_impl_count(const cnn_registry *registry)
{
    return BUILT + (registry != NULL ? registry->n_plugins + (registry->made != NULL) + registry->n_joined : 0);
}

const cnn_impl *cnn_impl_at(const cnn_registry *registry, int index)
{
    if (index < 0 || index >= cnn_impl_count(registry)) return NULL;
    if (index < BUILT) return built[index]();
    index -= BUILT;
    if (index < registry->n_plugins) return &registry->plugins[index]->impl;
    index -= registry->n_plugins;
    if (registry->made == NULL) return registry->joined[index];
    return index == 0 ? registry->made : registry->joined[index - 1];
}

const cnn_left_out *cnn_impls_left_out(void) { return left_out; }

const cnn_impl *cnn_impl_find(const cnn_registry *registry, const char *name, cnn_error *err)
{
    enum { LISTED = 32 };
    const char *names[LISTED];
    int count = 0;
    for (int i = 0; i < cnn_impl_count(registry); i++) {
        const cnn_impl *impl = cnn_impl_at(registry, i);
        if (strcmp(impl->name, name) == 0) return impl;
        if (count < LISTED) names[count++] = impl->name;
    }
    for (const cnn_left_out *out = left_out; out->name != NULL; out++)
        if (strcmp(out->name, name) == 0) {
            CNN_FAIL(err, CNN_UNAVAILABLE, "implementation '%s' was not built: %s", name, out->why);
            return NULL;
        }
    const cnn_name_set set = {"implementation", names, count};
    cnn_name_find(&set, name, err);
    return NULL;
}

cnn_status cnn_registry_put(cnn_registry *registry, const cnn_impl *impl, cnn_error *err)
{
    for (int i = 0; i < cnn_impl_count(registry); i++)
        if (strcmp(cnn_impl_at(registry, i)->name, impl->name) == 0)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is an implementation named '%s' already", impl->name);
    registry->made = impl;
    return CNN_OK;
}

cnn_status cnn_registry_join(cnn_registry *registry, const char *name, cnn_error *err)
{
    char first[CNN_NAME_MAX];
    cnn_error none;
    const char *plus = strchr(name, '+');
    if (cnn_impl_find(registry, name, &none) != NULL) return CNN_OK;
    if (plus == NULL || plus == name || plus[1] == '\0' || strchr(plus + 1, '+') != NULL ||
        strlen(name) >= sizeof first)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "'%.64s' is not of the form A+B, two implementations", name);
    if (registry->n_joined == CNN_JOINED_MAX)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d pairs of implementations", CNN_JOINED_MAX);
    snprintf(first, sizeof first, "%.*s", (int)(plus - name), name);
    const cnn_impl *a = cnn_impl_find(registry, first, err);
    const cnn_impl *b = a == NULL ? NULL : cnn_impl_find(registry, plus + 1, err);
    if (b == NULL) return err->status;
    const cnn_status status = joined_make(a, b, &registry->joined[registry->n_joined], err);
    if (status == CNN_OK) registry->n_joined++;
    return status;
}
