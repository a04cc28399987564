/* axes.c: "threads,algorithm" and "IMPL.KNOB=1,2,4" as axes. */
#include "harness/device/impl.h"
#include "parts.h"

#include <string.h>

#define AXES "any of threads, algorithm, layout, dtype, IMPL.KNOB=VALUE,VALUE (see `benchcnn list`)"

static cnn_status take_axis(sweep_axes *axes, const char *name, cnn_error *err)
{
    const struct {
        const char *name;
        bool *taken;
    } table[] = {{"threads", &axes->threads},
                 {"algorithm", &axes->algorithm},
                 {"layout", &axes->layout},
                 {"dtype", &axes->dtype}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(name, table[i].name) == 0) {
            *table[i].taken = true;
            return CNN_OK;
        }
    return CNN_FAIL(
        err, CNN_BAD_ARGUMENT,
        "sweep: '%.64s' cannot be swept; it is `benchcnn sweep batch` or `benchcnn sweep ranks=1,2` alone, or " AXES,
        name);
}

/* The values of a knob's table; of a range its least one and the powers of two in it. */
static void all_values(const cnn_knob *knob, sweep_knob *k)
{
    k->count = 0;
    for (int i = 0; i < knob->n_values && k->count < SWEEP_VALUES_MAX; i++) k->values[k->count++] = knob->values[i];
    if (knob->n_values > 0) return;
    k->values[k->count++] = knob->min;
    for (int64_t value = 1; value <= knob->max && k->count < SWEEP_VALUES_MAX; value *= 2) {
        if (value > knob->min) k->values[k->count++] = value;
        if (value > knob->max / 2) break;
    }
}

static cnn_status find_knob(const cnn_registry *registry, const char *text, sweep_knob *k, cnn_error *err)
{
    char name[CNN_NAME_MAX];
    const char *dot = strchr(text, '.');
    const size_t length = strcspn(text, "=");
    if (!dot || (size_t)(dot - text) > length || length >= sizeof name)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "sweep: '%.100s' is not of the form IMPL.KNOB or IMPL.KNOB=VALUE,VALUE",
                        text);
    snprintf(name, sizeof name, "%.*s", (int)(dot - text), text);
    k->impl = cnn_impl_find(registry, name, err);
    if (!k->impl) return err->status;
    snprintf(name, sizeof name, "%.*s", (int)(length - (size_t)(dot - text) - 1), dot + 1);
    return cnn_knob_find(k->impl, name, &k->index, err);
}

static cnn_status read_knob(const cli_options *o, const char *text, sweep_axes *axes, cnn_error *err)
{
    if (axes->n_knobs == SWEEP_KNOBS_MAX)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "sweep: more than %d knobs", SWEEP_KNOBS_MAX);
    sweep_knob *k = &axes->knobs[axes->n_knobs];
    const char *equals = strchr(text, '=');
    cnn_status status = find_knob(o->registry, text, k, err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < axes->n_knobs; i++)
        if (axes->knobs[i].impl == k->impl && axes->knobs[i].index == k->index)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "sweep %.100s: this knob is swept already; list all of its values",
                            text);
    if (equals)
        status = cli_ints("knob", equals + 1, INT64_MIN, INT64_MAX, k->values, SWEEP_VALUES_MAX, &k->count, err);
    else
        all_values(&k->impl->knobs[k->index], k);
    for (int i = 0; status == CNN_OK && i < k->count; i++)
        status = cnn_knob_check(k->impl, k->index, k->values[i], err);
    axes->n_knobs++;
    return status;
}

static cnn_status read_words(const cli_options *o, sweep_axes *axes, cnn_error *err)
{
    if (o->words.count == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "sweep needs to know what to sweep: benchcnn sweep batch, benchcnn sweep ranks=1,2, or " AXES);
    for (int i = 0; i < o->words.count; i++) {
        char copy[256], *rest = copy;
        if (strchr(o->words.items[i], '.')) {
            if (read_knob(o, o->words.items[i], axes, err) != CNN_OK) return err->status;
            continue;
        }
        snprintf(copy, sizeof copy, "%s", o->words.items[i]);
        while (rest)
            if (take_axis(axes, strsep(&rest, ","), err) != CNN_OK) return err->status;
    }
    return CNN_OK;
}

/* 1, 2, 4 ... up to --threads or every core, and that. */
static void count_threads(const cli_options *o, sweep_axes *axes)
{
    const int64_t most = cli_session_params(o).threads;
    axes->n_threads = 0;
    for (int64_t n = 1; axes->threads && n < most; n *= 2) axes->thread_counts[axes->n_threads++] = n;
    axes->thread_counts[axes->n_threads++] = most;
}

/* Several algorithms of one implementation that --impl names are swept: none is left out. */
static cnn_status name_algorithms(const cli_options *o, sweep_axes *axes, cnn_error *err)
{
    static cnn_choice list[CNN_MAX_CHOICES]; /* large: kept off the stack */
    int count;
    if (o->none_left || o->impl == NULL) return CNN_OK;
    const cnn_status status = cnn_choices_parse(o->registry, o->impl, list, &count, err);
    for (int i = 0; status == CNN_OK && i < count; i++) {
        if (list[i].pattern[0] == '\0' || cnn_choice_tuned(&list[i])) continue;
        if (strpbrk(list[i].pattern, "*?[") != NULL) axes->algorithm = true;
        for (int k = 0; k < i; k++)
            if (list[k].impl == list[i].impl && list[k].pattern[0] != '\0' && !cnn_choice_tuned(&list[k]))
                axes->algorithm = true;
    }
    return status;
}

cnn_status sweep_read_axes(const cli_options *o, sweep_axes *axes, cnn_error *err)
{
    *axes = (sweep_axes){.threads = false};
    cnn_status status = read_words(o, axes, err);
    if (status == CNN_OK) status = name_algorithms(o, axes, err);
    if (status == CNN_OK) status = sweep_check_knobs(o, axes, err);
    if (status == CNN_OK) count_threads(o, axes);
    return status;
}
