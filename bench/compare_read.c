/* compare_read.c: from records to figures: the key that tells figures apart, the statistics, the environment. */
#include "compare.h"

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

static cnn_status restat(figure *f, cnn_error *err)
{
    double *sorted = malloc((size_t)f->stats.count * sizeof *sorted);
    if (!sorted) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d samples", f->stats.count);
    bench_stats_of(f->samples, f->stats.count, sorted, &f->stats);
    free(sorted);
    return CNN_OK;
}

/* One more epoch of a setting is one more sample. */
static cnn_status add_epoch(figure *f, const cnn_record *record, cnn_error *err)
{
    double *samples = realloc(f->samples, ((size_t)f->stats.count + 1) * sizeof *samples);
    if (!samples) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d epochs", f->stats.count + 1);
    f->samples = samples;
    samples[f->stats.count++] = real_or(record, "seconds", NAN);
    return restat(f, err);
}

/* "[1e-3,2e-3]": the samples of a record; none when a number is not one. */
static double *parse_samples(const char *text, int count)
{
    double *samples = malloc((size_t)count * sizeof *samples);
    const char *at = text + 1;
    for (int i = 0; samples && i < count; i++) {
        char *end;
        samples[i] = strtod(at, &end);
        if (end == at || !(samples[i] > 0)) {
            free(samples);
            return NULL;
        }
        at = end + 1;
    }
    return samples;
}

static double *read_samples(const cnn_record *record, int count)
{
    const size_t size = (size_t)count * 32 + 64; /* a number takes less than 32 characters */
    double *samples = NULL;
    char *text = malloc(size);
    if (text && size < INT32_MAX && record_get_json(record, "samples_s", text, (int)size) && text[0] == '[')
        samples = parse_samples(text, count);
    free(text);
    return samples;
}

static bool has_word(const char *list, const char *word) { return list && strstr(list, word) != NULL; }

static cnn_status add_timing(figure *f, const cnn_record *record, cnn_error *err)
{
    bench_stats *s = &f->stats;
    free(f->samples);
    *s = (bench_stats){.count = (int)real_or(record, "samples", 0),
                       .median = real_or(record, "median_s", NAN),
                       .q1 = real_or(record, "q1_s", NAN),
                       .q3 = real_or(record, "q3_s", NAN),
                       .low = real_or(record, "low_s", NAN),
                       .high = real_or(record, "high_s", NAN),
                       .dependence = fmax(1.0, real_or(record, "dependence", 1.0)),
                       .drift = real_or(record, "drift", NAN)};
    f->resolution = real_or(record, "resolution", NAN);
    f->samples = s->count > 0 ? read_samples(record, s->count) : NULL;
    cnn_status status = f->samples ? restat(f, err) : CNN_OK;
    if (status != CNN_OK) return status;
    if (has_word(record_get_text(record, "marks"), "drifting")) s->marks |= BENCH_DRIFTING;
    if (has_word(record_get_text(record, "marks"), "disturbed")) s->marks |= BENCH_DISTURBED;
    if (has_word(record_get_text(record, "marks"), "throttled")) s->marks |= BENCH_THROTTLED;
    if (isfinite(s->low) || s->count < 1) return CNN_OK;
    /* Older records have quartiles only: those of a normal distribution are 1.349 deviations apart, and the median's
     * own deviation is 1.2533 / sqrt(n) of one. */
    const double half = 1.96 * 1.2533 * (s->q3 - s->q1) / 1.349 / sqrt(s->count / s->dependence);
    s->low = s->median - half;
    s->high = s->median + half;
    return CNN_OK;
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
    if (strcmp(kind, "env") == 0) return add_facts(set, record, err);
    if (!record_get_real(record, epoch ? "seconds" : "median_s", &seconds) || !(seconds > 0)) return CNN_OK;
    for (size_t i = 0; i < sizeof key_fields / sizeof *key_fields; i++)
        append_field(record, key_fields[i], key, sizeof key);
    cnn_status status = figure_of_key(set, key, &f, err);
    if (status != CNN_OK) return status;
    return epoch ? add_epoch(f, record, err) : add_timing(f, record, err);
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
        free(set->list[i].samples);
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
