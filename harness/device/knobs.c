/* knobs.c: "IMPL.KNOB=VALUE" settings against the implementations' tables. */
#include "knobs.h"
#include "harness/problem/names.h"
#include "impl.h"

#include <errno.h>
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

static cnn_status check_form(const char *setting, cnn_error *err)
{
    const char *dot = strchr(setting, '.'), *equals = strchr(setting, '=');
    if (dot != NULL && equals != NULL && equals > dot && strlen(setting) < CNN_NAME_MAX) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "setting '%.100s' is not of the form IMPL.KNOB=VALUE", setting);
}

cnn_status cnn_settings_check(const cnn_registry *registry, const char *const *settings, int n_settings, cnn_error *err)
{
    for (int i = 0; i < n_settings; i++) {
        char name[CNN_NAME_MAX];
        int index;
        int64_t value;
        cnn_status status = check_form(settings[i], err);
        if (status != CNN_OK) return status;
        snprintf(name, sizeof name, "%.*s", (int)(strchr(settings[i], '.') - settings[i]), settings[i]);
        const cnn_impl *impl = cnn_impl_find(registry, name, err);
        status = impl != NULL ? parse_setting(impl, settings[i], &index, &value, err) : err->status;
        if (status != CNN_OK) return status;
    }
    return CNN_OK;
}

cnn_status cnn_knob_values(const cnn_impl *impl, const char *const *settings, int n_settings, int64_t *values,
                           cnn_error *err)
{
    const size_t length = strlen(impl->name);
    for (int i = 0; i < impl->n_knobs; i++) values[i] = impl->knobs[i].def;
    for (int i = 0; i < n_settings; i++) {
        if (strncmp(settings[i], impl->name, length) != 0 || settings[i][length] != '.') continue;
        int index;
        int64_t value;
        cnn_status status = check_form(settings[i], err);
        if (status == CNN_OK) status = parse_setting(impl, settings[i], &index, &value, err);
        if (status != CNN_OK) return status;
        values[index] = value;
    }
    return CNN_OK;
}
