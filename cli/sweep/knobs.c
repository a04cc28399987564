/* knobs.c: which points read a knob: one whose name begins with an algorithm's says nothing to the others. */
#include "harness/device/impl.h"
#include "parts.h"

#include <fnmatch.h>
#include <string.h>

/* The algorithm whose name a knob's begins with, as "im2col.block_kib"; NULL: none. */
static const char *owner_of(const cnn_impl *impl, const cnn_knob *knob)
{
    const size_t length = strcspn(knob->name, ".");
    for (int i = 0; i < impl->n_algorithms; i++)
        if (strlen(impl->algorithms[i].name) == length && strncmp(impl->algorithms[i].name, knob->name, length) == 0)
            return impl->algorithms[i].name;
    return NULL;
}

bool sweep_concerns(const cnn_impl *impl, const cnn_knob *knob, const char *algorithm)
{
    const char *owner = owner_of(impl, knob);
    return owner == NULL || strcmp(owner, algorithm) == 0;
}

/* Whether this choice may come to a point that reads the knob. */
static bool may_read(const cnn_choice *choice, const sweep_axes *axes, const char *owner)
{
    if (owner == NULL || cnn_choice_tuned(choice)) return true;
    if (choice->pattern[0] == '\0') return axes->algorithm;
    return fnmatch(choice->pattern, owner, 0) == 0;
}

cnn_status sweep_check_knobs(const cli_options *o, const sweep_axes *axes, cnn_error *err)
{
    static cnn_choice list[CNN_MAX_CHOICES]; /* large: kept off the stack */
    int count;
    if (o->none_left) return CNN_OK;
    cnn_status status = cnn_choices_parse(o->registry, o->impl, list, &count, err);
    for (int k = 0; status == CNN_OK && k < axes->n_knobs; k++) {
        const cnn_impl *impl = axes->knobs[k].impl;
        const cnn_knob *knob = &impl->knobs[axes->knobs[k].index];
        const char *owner = owner_of(impl, knob);
        bool chosen = false, read = false;
        for (int i = 0; i < count; i++) {
            if (list[i].impl != impl) continue;
            chosen = true;
            read = read || may_read(&list[i], axes, owner);
        }
        if (!chosen)
            status = CNN_FAIL(err, CNN_BAD_ARGUMENT, "sweep %s.%s: --impl %.200s does not choose %s", impl->name,
                              knob->name, o->impl, impl->name);
        else if (!read)
            status = CNN_FAIL(err, CNN_BAD_ARGUMENT,
                              "sweep %s.%s: %s:%s alone reads it, and is not among what is swept: sweep algorithm, "
                              "too, or give --impl %s:%s",
                              impl->name, knob->name, impl->name, owner, impl->name, owner);
    }
    return status;
}
