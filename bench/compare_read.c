/* compare_read.c: from records to figures: the key that tells figures apart, the statistics, the environment. */
#include "compare.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What makes two figures the same one. A record lacks those that are not of its kind. */
static const char *const key_fields[] = {"kind",    "impl",    "algorithm",    "op",          "problem",   "net",
                                         "net_crc", "data",    "dir",          "dtype",       "layout",    "math",
                                         "batch",   "threads", "knobs",        "cache",       "optimizer", "seed",
                                         "graph",   "data_on", "train_images", "test_images", "program"};
/* Of the environment, what a figure depends on; the date and the load differ by nature. */
static const char *const fact_fields[] = {"cpu",     "cores",  "memory_bytes", "os",    "kernel",     "cpu_governor",
                                          "version", "commit", "compiler",     "flags", "build_type", "clock_source"};

/* Appends "FIELD=VALUE "; texts without their quotes. */
static void append_field(const cnn_record *record, const char *field, char *key, size_t size)
{
    char value[1024];
    const size_t used = strlen(key);
    const char *text = record_get_text(record, field);
    if (!text && record_get_json(record, field, value, (int)sizeof value)) text = value;
    if (text && strcmp(text, "{}") != 0) snprintf(key + used, size - used, "%s%s=%s", used ? " " : "", field, text);
}

static cnn_status add_figure(figure_set *set, const char *key, figure **made, cnn_error *err)
{
    figure *list = realloc(set->list, ((size_t)set->count + 1) * sizeof *list);
    char *copy = strdup(key);
    if (list) set->list = list;
    if (!list || !copy) {
        free(copy);
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d figures", set->count + 1);
    }
    *made = &list[set->count++];
    **made = (figure){.key = copy, .resolution = NAN};
    return CNN_OK;
}

static cnn_status figure_of_key(figure_set *set, const char *key, figure **result, cnn_error *err)
{
    for (int i = 0; i < set->count; i++)
        if (strcmp(set->list[i].key, key) == 0) {
            *result = &set->list[i];
            return CNN_OK;
        }
    return add_figure(set, key, result, err);
}

static double real_or(const cnn_record *record, const char *key, double other)
{
    double value;
    return record_get_real(record, key, &value) ? value : other;
}

static cnn_status append(double **list, int *count, double value, cnn_error *err)
{
    double *longer = realloc(*list, ((size_t)*count + 1) * sizeof *longer);
    if (!longer) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d runs", *count + 1);
    *list = longer;
    longer[(*count)++] = value;
    return CNN_OK;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The epochs of one run of the program are one run's samples. */
static cnn_status add_epoch(figure *f, int run, double seconds, cnn_error *err)
{
    if (f->n_runs == 0 || f->run != run) f->n_epochs = 0;
    cnn_status status = append(&f->epochs, &f->n_epochs, seconds, err);
    if (status == CNN_OK && f->n_epochs == 1) status = append(&f->runs, &f->n_runs, seconds, err);
    if (status != CNN_OK) return status;
    f->run = run;
    qsort(f->epochs, (size_t)f->n_epochs, sizeof *f->epochs, by_value);
    f->runs[f->n_runs - 1] = bench_quantile(f->epochs, f->n_epochs, 0.5);
    return CNN_OK;
}

static cnn_status add_timing(figure *f, const cnn_record *record, double median, cnn_error *err)
{
    f->resolution = fmax(f->resolution, real_or(record, "resolution", NAN)); /* fmax passes over a NaN */
    return append(&f->runs, &f->n_runs, median, err);
}

static cnn_status add_facts(figure_set *set, const cnn_record *record, cnn_error *err)
{
    for (size_t i = 0; i < sizeof fact_fields / sizeof *fact_fields; i++) {
        char value[1024];
        if (!record_get_json(record, fact_fields[i], value, (int)sizeof value) || figures_fact(set, fact_fields[i]))
            continue;
        figure_fact *facts = realloc(set->facts, ((size_t)set->n_facts + 1) * sizeof *facts);
        if (!facts) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the environment");
        set->facts = facts;
        facts[set->n_facts] = (figure_fact){strdup(fact_fields[i]), strdup(value)};
        if (facts[set->n_facts].key && facts[set->n_facts].value) set->n_facts++;
    }
    return CNN_OK;
}

static cnn_status add_record(void *user, const cnn_record *record, cnn_error *err)
{
    figure_set *set = user;
    char key[4096] = "";
    double seconds;
    figure *f = NULL;
    const char *kind = record_get_text(record, "kind");
    const bool epoch = strcmp(kind, "epoch") == 0;
    if (strcmp(kind, "env") == 0) set->environments++;
    if (strcmp(kind, "env") == 0) return add_facts(set, record, err);
    if (!record_get_real(record, epoch ? "seconds" : "median_s", &seconds) || !(seconds > 0)) return CNN_OK;
    for (size_t i = 0; i < sizeof key_fields / sizeof *key_fields; i++)
        append_field(record, key_fields[i], key, sizeof key);
    cnn_status status = figure_of_key(set, key, &f, err);
    if (status != CNN_OK) return status;
    return epoch ? add_epoch(f, set->environments, seconds, err) : add_timing(f, record, seconds, err);
}

cnn_status figures_read(const char *path, figure_set *set, cnn_error *err)
{
    memset(set, 0, sizeof *set);
    cnn_status status = record_read(path, add_record, set, &set->bad, err);
    if (status != CNN_OK) figures_free(set);
    return status;
}

void figures_free(figure_set *set)
{
    for (int i = 0; i < set->count; i++) {
        free(set->list[i].key);
        free(set->list[i].runs);
        free(set->list[i].epochs);
    }
    for (int i = 0; i < set->n_facts; i++) {
        free(set->facts[i].key);
        free(set->facts[i].value);
    }
    free(set->list);
    free(set->facts);
    memset(set, 0, sizeof *set);
}

const figure *figures_find(const figure_set *set, const char *key)
{
    for (int i = 0; i < set->count; i++)
        if (strcmp(set->list[i].key, key) == 0) return &set->list[i];
    return NULL;
}

const char *figures_fact(const figure_set *set, const char *key)
{
    for (int i = 0; i < set->n_facts; i++)
        if (strcmp(set->facts[i].key, key) == 0) return set->facts[i].value;
    return NULL;
}
