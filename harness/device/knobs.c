/* knobs.c: "IMPL.KNOB=VALUE" settings, where IMPL may be a glob, against the implementations' tables. */
#include "knobs.h"
#include "harness/problem/names.h"
#include "impl.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static cnn_status find_knob(const cnn_impl *impl, const char *name, int *index, cnn_error *err)
{
    enum { LISTED = 128 };
    const char *names[LISTED];
    for (int i = 0; i < impl->n_knobs; i++) {
        if (strcmp(impl->knobs[i].name, name) == 0) {
            *index = i;
            return CNN_OK;
        }
        if (i < LISTED) names[i] = impl->knobs[i].name;
    }
    if (impl->n_knobs == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s has no knobs, so it has no '%.64s'", impl->name, name);
    const cnn_name_set set = {"knob", names, impl->n_knobs < LISTED ? impl->n_knobs : LISTED};
    *index = cnn_name_find(&set, name, err); /* in other case it is found, too */
    return *index >= 0 ? CNN_OK : err->status;
}

static cnn_status check_value(const cnn_impl *impl, const cnn_knob *knob, int64_t value, cnn_error *err)
{
    if (value < knob->min || value > knob->max)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "knob %s.%s is %lld, but must be from %lld to %lld", impl->name,
                        knob->name, (long long)value, (long long)knob->min, (long long)knob->max);
    if (knob->values == NULL) return CNN_OK;
    char all[256] = "";
    for (int i = 0; i < knob->n_values; i++) {
        if (knob->values[i] == value) return CNN_OK;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%lld", i > 0 ? ", " : "", (long long)knob->values[i]);
    }
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "knob %s.%s is %lld, but must be one of %s", impl->name, knob->name,
                    (long long)value, all);
}

/* "IMPL.KNOB=VALUE" of an implementation: which of its knobs, and the value. */
static cnn_status parse_setting(const cnn_impl *impl, const char *setting, int *index, int64_t *value, cnn_error *err)
{
    char name[CNN_NAME_MAX], *end;
    const char *dot = strchr(setting, '.'), *equals = strchr(setting, '=');
    snprintf(name, sizeof name, "%.*s", (int)(equals - dot - 1), dot + 1);
    cnn_status status = find_knob(impl, name, index, err);
    if (status != CNN_OK) return status;
    errno = 0;
    *value = strtoll(equals + 1, &end, 10);
    if (end == equals + 1 || *end != '\0' || errno == ERANGE)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "setting '%.100s': '%.32s' is not a whole number", setting, equals + 1);
    return check_value(impl, &impl->knobs[*index], *value, err);
}

static bool has_form(const char *setting)
{
    const char *dot = strchr(setting, '.'), *equals = strchr(setting, '=');
    return dot != NULL && equals != NULL && equals > dot && strlen(setting) < CNN_NAME_MAX;
}

/* What stands before the first dot: an implementation's name, or a glob. */
static const char *impl_part(const char *setting, char name[CNN_NAME_MAX])
{
    snprintf(name, CNN_NAME_MAX, "%.*s", (int)strcspn(setting, "."), setting);
    return name;
}

static bool is_glob(const char *name) { return strpbrk(name, "*?[") != NULL; }

static bool has_knob(const cnn_impl *impl, const char *name, size_t length)
{
    for (int i = 0; i < impl->n_knobs; i++)
        if (strncmp(impl->knobs[i].name, name, length) == 0 && impl->knobs[i].name[length] == '\0') return true;
    return false;
}

/* Whether it is for this implementation. A glob passes over those that have no such knob. */
static bool is_for(const cnn_impl *impl, const char *setting)
{
    char name[CNN_NAME_MAX];
    if (!has_form(setting)) return false;
    if (!is_glob(impl_part(setting, name))) return strcmp(name, impl->name) == 0;
    const char *knob = strchr(setting, '.') + 1;
    return fnmatch(name, impl->name, 0) == 0 && has_knob(impl, knob, strcspn(knob, "="));
}

/* "KNOB=VALUE" instead of "IMPL.KNOB=VALUE" (knobs may have dots): whoever has the knob is offered; else err stays. */
static cnn_status offer_owner(const cnn_registry *registry, const char *setting, cnn_error *err)
{
    for (int i = 0; i < cnn_impl_count(registry); i++) {
        const cnn_impl *impl = cnn_impl_at(registry, i);
        if (has_knob(impl, setting, strcspn(setting, "=")))
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "setting '%.100s' does not say whose knob that is: '%s.%.100s'?",
                            setting, impl->name, setting);
    }
    return err->status;
}

static cnn_status check_setting(const cnn_registry *registry, const char *setting, cnn_error *err)
{
    char name[CNN_NAME_MAX];
    int index, count = 0;
    int64_t value;
    if (!has_form(setting)) {
        CNN_FAIL(err, CNN_BAD_ARGUMENT, "setting '%.100s' is not of the form IMPL.KNOB=VALUE", setting);
        return offer_owner(registry, setting, err);
    }
    if (!is_glob(impl_part(setting, name))) {
        const cnn_impl *impl = cnn_impl_find(registry, name, err);
        return impl != NULL ? parse_setting(impl, setting, &index, &value, err) : offer_owner(registry, setting, err);
    }
    for (int i = 0; i < cnn_impl_count(registry); i++) {
        if (!is_for(cnn_impl_at(registry, i), setting)) continue;
        count++;
        if (parse_setting(cnn_impl_at(registry, i), setting, &index, &value, err) != CNN_OK) return err->status;
    }
    if (count > 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "setting '%.100s': no implementation '%.64s' has such a knob", setting,
                    name);
}

cnn_status cnn_settings_check(const cnn_registry *registry, const char *const *settings, int n_settings, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < n_settings; i++) status = check_setting(registry, settings[i], err);
    return status;
}

bool cnn_is_set(const cnn_impl *impl, int knob, const char *const *settings, int n_settings)
{
    for (int i = 0; i < n_settings; i++) {
        int index;
        int64_t value;
        cnn_error err;
        if (is_for(impl, settings[i]) && parse_setting(impl, settings[i], &index, &value, &err) == CNN_OK &&
            index == knob)
            return true;
    }
    return false;
}

cnn_status cnn_knob_values(const cnn_impl *impl, const char *const *settings, int n_settings, int64_t *values,
                           cnn_error *err)
{
    for (int i = 0; i < impl->n_knobs; i++) values[i] = impl->knobs[i].def;
    for (int i = 0; i < n_settings; i++) {
        int index;
        int64_t value;
        if (!is_for(impl, settings[i])) continue;
        cnn_status status = parse_setting(impl, settings[i], &index, &value, err);
        if (status != CNN_OK) return status;
        values[index] = value;
    }
    return CNN_OK;
}
