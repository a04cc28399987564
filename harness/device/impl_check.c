/* impl_check.c: an implementation's table, before anything relies on it. */
#include "call.h"
#include "harness/base/text.h"
#include "registry.h"

#include <string.h>

enum { TABLE_MAX = 1024, KNOB_NAME_MAX = 64 };

/* A table of functions, which is whole or NULL: where cnn_impl points to it, where its functions begin, their names. */
typedef struct table {
    const char *name;
    size_t at, first;
    const char *functions[9];
} table;

/* Over offsets: one loop looks at all tables, and a new table is one row. */
static cnn_status check_tables(const cnn_impl *impl, cnn_error *err)
{
#define AT(name) #name, offsetof(cnn_impl, name)
    static const table tables[] = {
        {AT(memory), 0, {"alloc", "free", "upload", "download", "copy", "fill", "available"}},
        {AT(timing), 0, {"start", "stop"}},
        {AT(capture), 0, {"begin", "end", "run", "free"}},
        {AT(profile), 0, {"open", "close", "use", "lap", "read"}},
        {AT(ranges), 0, {"push", "pop"}},
        {AT(uploads), 0, {"host_alloc", "host_free", "start", "use", "drain"}},
        {AT(peaks), offsetof(cnn_peaks, open), {"open", "run", "close"}},
        {AT(comms), offsetof(cnn_comms, id), {"id", "open", "close", "sum"}},
        {AT(offloads), 0, {"open", "close", "begin", "wait"}},
        {AT(streams), 0, {"open", "close", "use", "mark", "wait"}},
        {AT(trainers), 0, {"supports", "open", "close", "load", "save", "train", "test", "gradients"}},
    };
#undef AT
    typedef void function(void);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const table *t = &tables[i];
        const char *begin;
        function *f;
        memcpy(&begin, (const char *)impl + t->at, sizeof begin);
        for (int k = 0; begin != NULL && t->functions[k] != NULL; k++) {
            memcpy(&f, begin + t->first + (size_t)k * sizeof f, sizeof f);
            if (f == NULL)
                return CNN_FAIL(err, CNN_UNAVAILABLE,
                                "implementation %.64s: its table %s has no %s: give all of its functions, or no table",
                                impl->name, t->name, t->functions[k]);
        }
    }
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
                  {"peaks->count", cnn_peak_count(impl), true}};
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
        const cnn_algorithm *a = &impl->algorithms[i];
        const cnn_status status = cnn_algorithm_check(impl->name, a, err);
        if (status != CNN_OK) return status;
        if (a->ops == CNN_TRAINS && impl->trainers == NULL)
            return CNN_FAIL(err, CNN_UNAVAILABLE,
                            "implementation %.64s: its algorithm %s trains, but there is no table trainers", impl->name,
                            a->name);
        /* A plug-in that is older than this slot has no such flag, and is not read so far. */
        if (a->ops == CNN_TRAINS && (a->flags & CNN_ALGO_PROFILES) != 0 && impl->trainers->profile == NULL)
            return CNN_FAIL(err, CNN_UNAVAILABLE,
                            "implementation %.64s: its algorithm %s has the flag CNN_ALGO_PROFILES, and its table "
                            "trainers has no profile",
                            impl->name, a->name);
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

/* A plug-in's table may be damaged: texts are read no further than they may be long. */
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

/* The layout: nothing else may be read before it is known. */
static cnn_status check_layout(const cnn_impl *impl, cnn_error *err)
{
    const size_t least = offsetof(cnn_impl, ops) + sizeof impl->ops;
    if (impl->abi_version != CNN_ABI_VERSION)
        return CNN_FAIL(
            err, CNN_UNAVAILABLE,
            "implementation speaks interface version %u, but this benchcnn speaks %u: build it against this "
            "cnn.h; what a plug-in of an older version has to change stands in impl_template/README.md",
            impl->abi_version, CNN_ABI_VERSION);
    if (impl->struct_size < least || impl->struct_size > sizeof(cnn_impl) || impl->struct_size % sizeof(void *) != 0)
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "implementation's struct_size is %u, but must be from %zu to %zu: sizeof(cnn_impl), of a cnn.h "
                        "no newer than this benchcnn's",
                        impl->struct_size, least, sizeof(cnn_impl));
    if (impl->ops == NULL) return CNN_FAIL(err, CNN_UNAVAILABLE, "implementation has no table ops: it can do nothing");
    const uint32_t size = impl->ops->struct_size;
    if (size < sizeof(void *) || size > sizeof(cnn_operations) || size % sizeof(void *) != 0)
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "implementation's ops->struct_size is %u, but must be sizeof(cnn_operations), here %zu at most",
                        size, sizeof(cnn_operations));
    return CNN_OK;
}

static cnn_status check_all(const cnn_impl *impl, cnn_error *err)
{
    if (impl->name == NULL || impl->open == NULL || impl->close == NULL || impl->supports == NULL)
        return CNN_FAIL(err, CNN_UNAVAILABLE, "implementation lacks one of name, open, close, supports");
    cnn_status status = check_tables(impl, err);
    if (status != CNN_OK) return status;
    if ((status = check_counts(impl, err)) != CNN_OK) return status;
    if ((status = cnn_doc_check(impl->name, "", "it", impl->doc, err)) != CNN_OK) return status;
    if ((status = check_algorithms(impl, err)) != CNN_OK) return status;
    if ((status = check_knobs(impl, err)) != CNN_OK) return status;
    if (impl->dtypes >> CNN_DTYPE_COUNT != 0)
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "implementation %.64s takes types that there are not: its dtypes is %#llx, a mask of 1 << "
                        "cnn_dtype, of which there are %d",
                        impl->name, (unsigned long long)impl->dtypes, (int)CNN_DTYPE_COUNT);
    if (impl->n_algorithms > 0 || impl->enumerate != NULL) return CNN_OK;
    return CNN_FAIL(err, CNN_UNAVAILABLE,
                    "implementation %s has no algorithms: it needs a table of them, or a function enumerate",
                    impl->name);
}

cnn_status cnn_impl_take(const cnn_impl *given, cnn_impl_copy *copy, cnn_error *err)
{
    const cnn_status status = check_layout(given, err);
    if (status != CNN_OK) return status;
    memset(copy, 0, sizeof *copy);
    memcpy(&copy->impl, given, given->struct_size);
    memcpy(&copy->ops, given->ops, given->ops->struct_size);
    copy->impl.ops = &copy->ops;
    return check_all(&copy->impl, err);
}

cnn_status cnn_impl_check(const cnn_impl *impl, cnn_error *err)
{
    cnn_impl_copy copy;
    return cnn_impl_take(impl, &copy, err);
}
