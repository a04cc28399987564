/* impl_check.c: an implementation's table, before anything relies on it. */
#include "call.h"
#include "harness/base/text.h"
#include "impl.h"

#include <string.h>

enum { TABLE_MAX = 1024, KNOB_NAME_MAX = 64 };

/* One slot of those that go together: callers ask for one of them, and then use all. */
typedef struct slot {
    int group;
    const char *name;
    bool given;
} slot;

static cnn_status check_groups(const cnn_impl *impl, cnn_error *err)
{
#define SLOT(group, name)                                                                                              \
    {                                                                                                                  \
        group, #name, impl->name                                                                                       \
    }
    const slot slots[] = {
        SLOT(0, alloc),       SLOT(0, free),        SLOT(0, upload),       SLOT(0, download),   SLOT(0, copy),
        SLOT(0, fill),        SLOT(0, memory_free), SLOT(1, timer_start),  SLOT(1, timer_stop), SLOT(2, capture_begin),
        SLOT(2, capture_end), SLOT(2, graph_run),   SLOT(2, graph_free),   SLOT(3, laps_open),  SLOT(3, laps_close),
        SLOT(3, laps_use),    SLOT(3, lap),         SLOT(3, laps_read),    SLOT(4, range_push), SLOT(4, range_pop),
        SLOT(5, host_alloc),  SLOT(5, host_free),   SLOT(5, upload_async), SLOT(5, upload_use), SLOT(5, upload_drain),
        SLOT(6, prepare),     SLOT(6, release),     SLOT(7, step_open),    SLOT(7, step_run),   SLOT(7, step_close),
        SLOT(8, n_peaks),     SLOT(8, peak_open),   SLOT(8, peak_run),     SLOT(8, peak_close),
    };
#undef SLOT
    const int count = (int)(sizeof slots / sizeof slots[0]);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++)
            if (slots[i].group == slots[k].group && slots[i].given && !slots[k].given)
                return CNN_FAIL(err, CNN_UNAVAILABLE,
                                "implementation %s has %s, but no %s: they go together, so give it both or neither",
                                impl->name, slots[i].name, slots[k].name);
    return CNN_OK;
}

/* A count that is wrong would be read behind the table's end; one that is believed must at least be small. */
static cnn_status check_counts(const cnn_impl *impl, cnn_error *err)
{
    const struct {
        const char *name;
        int count;
        bool has_table;
    } tables[] = {{"n_algorithms", impl->n_algorithms, impl->algorithms != NULL},
                  {"n_knobs", impl->n_knobs, impl->knobs != NULL},
                  {"n_peaks", impl->n_peaks, impl->peak_open != NULL}};
    for (int i = 0; i < 3; i++) {
        if (tables[i].count < 0 || tables[i].count > TABLE_MAX)
            return CNN_FAIL(err, CNN_UNAVAILABLE, "implementation %.64s: %s is %d, but must be from 0 to %d",
                            impl->name, tables[i].name, tables[i].count, TABLE_MAX);
        if (tables[i].count > 0 && !tables[i].has_table)
            return CNN_FAIL(err, CNN_UNAVAILABLE, "implementation %.64s: %s is %d, but its table is NULL", impl->name,
                            tables[i].name, tables[i].count);
    }
    return CNN_OK;
}

static cnn_status check_algorithms(const cnn_impl *impl, cnn_error *err)
{
    for (int i = 0; i < impl->n_algorithms; i++) {
        const cnn_status status = cnn_algorithm_check(impl->name, &impl->algorithms[i], err);
        if (status != CNN_OK) return status;
        for (int k = 0; k < i; k++)
            if (strcmp(impl->algorithms[i].name, impl->algorithms[k].name) == 0)
                return CNN_FAIL(err, CNN_UNAVAILABLE, "implementation %.64s has two algorithms named '%s'", impl->name,
                                impl->algorithms[i].name);
    }
    return CNN_OK;
}

static bool is_value(const cnn_knob *knob, int64_t value)
{
    bool found = knob->values == NULL;
    for (int i = 0; knob->values != NULL && i < knob->n_values; i++) found = found || knob->values[i] == value;
    return found && value >= knob->min && value <= knob->max;
}

static cnn_status check_knobs(const cnn_impl *impl, cnn_error *err)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    char shown[CNN_NAME_MAX];
    for (int i = 0; i < impl->n_knobs; i++) {
        const cnn_knob *k = &impl->knobs[i];
        const size_t length = k->name != NULL ? strnlen(k->name, KNOB_NAME_MAX) : 0;
        if (length == 0 || length == KNOB_NAME_MAX || strspn(k->name, plain) != length)
            return CNN_FAIL(err, CNN_UNAVAILABLE,
                            "implementation %.64s: the name of knob %d is '%.64s', but must be of letters, digits and "
                            "_-., of less than %d characters",
                            impl->name, i, cnn_visible(k->name, shown, sizeof shown), KNOB_NAME_MAX);
        const cnn_status status = cnn_doc_check(impl->name, "knob ", k->name, k->doc, err);
        if (status != CNN_OK) return status;
        if (k->n_values < 0 || k->n_values > TABLE_MAX || (k->n_values > 0) != (k->values != NULL))
            return CNN_FAIL(err, CNN_UNAVAILABLE, "implementation %.64s: knob %s has %d values in a table that is %s",
                            impl->name, k->name, k->n_values, k->values != NULL ? "there" : "NULL");
        if (!is_value(k, k->def))
            return CNN_FAIL(err, CNN_UNAVAILABLE,
                            "implementation %.64s: knob %s has the default %lld, which is none of its values",
                            impl->name, k->name, (long long)k->def);
    }
    return CNN_OK;
}

cnn_status cnn_impl_check(const cnn_impl *impl, cnn_error *err)
{
    if (impl->abi_version != CNN_ABI_VERSION || impl->struct_size != sizeof(cnn_impl))
        return CNN_FAIL(
            err, CNN_UNAVAILABLE,
            "implementation speaks interface version %u (%u bytes), but this benchcnn speaks %u (%zu bytes): "
            "build it against this cnn.h",
            impl->abi_version, impl->struct_size, CNN_ABI_VERSION, sizeof(cnn_impl));
    if (impl->name == NULL || impl->probe == NULL || impl->open == NULL || impl->close == NULL ||
        impl->supports == NULL)
        return CNN_FAIL(err, CNN_UNAVAILABLE, "implementation lacks one of name, probe, open, close, supports");
    cnn_status status = check_groups(impl, err);
    if (status != CNN_OK) return status;
    if ((status = check_counts(impl, err)) != CNN_OK) return status;
    if ((status = cnn_doc_check(impl->name, "", "it", impl->doc, err)) != CNN_OK) return status;
    if ((status = check_algorithms(impl, err)) != CNN_OK) return status;
    if ((status = check_knobs(impl, err)) != CNN_OK) return status;
    if (impl->n_algorithms > 0 || impl->enumerate != NULL) return CNN_OK;
    return CNN_FAIL(err, CNN_UNAVAILABLE,
                    "implementation %s has no algorithms: it needs a table of them, or a function enumerate",
                    impl->name);
}
