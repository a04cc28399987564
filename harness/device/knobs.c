/* knobs.c: "IMPL.KNOB=VALUE" settings, where IMPL may be a glob, against the implementations' tables. */
#include "harness/problem/names.h"
#include "impl.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

cnn_status cnn_knob_find(const cnn_impl *impl, const char *name, int *index, cnn_error *err)
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

cnn_status cnn_knob_check(const cnn_impl *impl, int index, int64_t value, cnn_error *err)
{
    const cnn_knob *knob = &impl->knobs[index];
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

typedef struct setting { /* "IMPL.KNOB=VALUE" */
    const char *text, *value;
    char impl[CNN_NAME_MAX], knob[CNN_NAME_MAX]; /* impl: a name, or a glob */
} setting;

static cnn_status split(const char *text, setting *s, cnn_error *err)
{
    const char *dot = strchr(text, '.'), *equals = strchr(text, '=');
    *s = (setting){.text = text};
    if (dot == NULL || equals == NULL || equals < dot || strlen(text) >= CNN_NAME_MAX)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "setting '%.100s' is not of the form IMPL.KNOB=VALUE", text);
    snprintf(s->impl, sizeof s->impl, "%.*s", (int)(dot - text), text);
    snprintf(s->knob, sizeof s->knob, "%.*s", (int)(equals - dot - 1), dot + 1);
    s->value = equals + 1;
    return CNN_OK;
}

static bool is_glob(const setting *s) { return strpbrk(s->impl, "*?[") != NULL; }

static bool has_knob(const cnn_impl *impl, const char *name, size_t length)
{
    for (int i = 0; i < impl->n_knobs; i++)
        if (strncasecmp(impl->knobs[i].name, name, length) == 0 && impl->knobs[i].name[length] == '\0') return true;
    return false;
}

/* Whether it sets this knob. Of "A+B", A's knobs are called A.KNOB, and what sets those of A sets them. */
static bool sets(const setting *s, const cnn_impl *impl, const cnn_knob *knob)
{
    char owner[CNN_NAME_MAX];
    const char *dot = strchr(knob->name, '.');
    if (fnmatch(s->impl, impl->name, 0) == 0 && strcasecmp(s->knob, knob->name) == 0) return true;
    if (dot == NULL || strchr(impl->name, '+') == NULL) return false;
    snprintf(owner, sizeof owner, "%.*s", (int)(dot - knob->name), knob->name);
    return fnmatch(s->impl, owner, 0) == 0 && strcasecmp(s->knob, dot + 1) == 0;
}

/* By its name, though it may have no such knob; a glob passes over those that have none. */
static bool is_for(const setting *s, const cnn_impl *impl)
{
    bool any = !is_glob(s) && strcmp(s->impl, impl->name) == 0;
    for (int i = 0; i < impl->n_knobs; i++) any = any || sets(s, impl, &impl->knobs[i]);
    return any;
}

/* Sets what it sets of the implementation's knobs; values may be NULL. */
static cnn_status apply(const setting *s, const cnn_impl *impl, int64_t *values, cnn_error *err)
{
    char *end;
    int index, count = 0;
    errno = 0;
    const int64_t value = strtoll(s->value, &end, 10);
    const bool whole = end != s->value && *end == '\0' && errno != ERANGE;
    for (int i = 0; i < impl->n_knobs; i++) {
        if (!sets(s, impl, &impl->knobs[i])) continue;
        count++;
        if (!whole)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "setting '%.100s': '%.32s' is not a whole number", s->text,
                            s->value);
        if (cnn_knob_check(impl, i, value, err) != CNN_OK) return err->status;
        if (values != NULL) values[i] = value;
    }
    return count > 0 ? CNN_OK : cnn_knob_find(impl, s->knob, &index, err);
}

/* "KNOB=VALUE" instead of "IMPL.KNOB=VALUE" (knobs may have dots): whoever has the knob is offered; else err stays. */
static cnn_status offer_owner(const cnn_registry *registry, const char *text, cnn_error *err)
{
    for (int i = 0; i < cnn_impl_count(registry); i++) {
        const cnn_impl *impl = cnn_impl_at(registry, i);
        if (has_knob(impl, text, strcspn(text, "=")))
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "setting '%.100s' does not say whose knob that is: '%s.%.100s'?",
                            text, impl->name, text);
    }
    return err->status;
}

static cnn_status check_setting(const cnn_registry *registry, const char *text, cnn_error *err)
{
    setting s;
    int count = 0;
    if (split(text, &s, err) != CNN_OK || (!is_glob(&s) && cnn_impl_find(registry, s.impl, err) == NULL))
        return offer_owner(registry, text, err);
    for (int i = 0; i < cnn_impl_count(registry); i++) {
        if (!is_for(&s, cnn_impl_at(registry, i))) continue;
        count++;
        if (apply(&s, cnn_impl_at(registry, i), NULL, err) != CNN_OK) return err->status;
    }
    if (count > 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "setting '%.100s': no implementation '%.64s' has such a knob", text, s.impl);
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
        setting s;
        cnn_error err;
        if (split(settings[i], &s, &err) == CNN_OK && sets(&s, impl, &impl->knobs[knob])) return true;
    }
    return false;
}

cnn_status cnn_knob_values(const cnn_impl *impl, const char *const *settings, int n_settings, int64_t *values,
                           cnn_error *err)
{
    for (int i = 0; i < impl->n_knobs; i++) values[i] = impl->knobs[i].def;
    for (int i = 0; i < n_settings; i++) {
        setting s;
        if (split(settings[i], &s, err) != CNN_OK) return err->status;
        if (is_for(&s, impl) && apply(&s, impl, values, err) != CNN_OK) return err->status;
    }
    return CNN_OK;
}
