/* compare_read.c: from records to figures: their runs, the environment. */
#include "bench/measure/stats.h"
#include "compare.h"
#include "harness/base/grow.h"
#include "harness/record/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the environment, what a figure depends on; the date and the load differ by nature. */
static const char *const fact_fields[] = {"cpu",     "cores",  "memory_bytes", "os",    "kernel",     "cpu_governor",
                                          "version", "commit", "compiler",     "flags", "build_type", "clock_source"};

typedef struct reader {
    figure_set *set;
    const char *path, *across;
    int64_t records;
    char machine[CNN_NAME_MAX]; /* the environment record's: epochs do not tell their own */
    char build[BUILD_ID_MAX];   /* of the command that wrote the records that follow */
} reader;

/* The record's figure, made if need be. Runs on two machines are no runs of one figure, and what is compared across
 * must have one value in a file. */
static cnn_status figure_of(const reader *r, const cnn_record *record, figure **result, cnn_error *err)
{
    figure_set *set = r->set;
    figure *f = NULL;
    char *key = record_identity(record, IDENTITY_FIGURE, r->across),
         *whole = record_identity(record, IDENTITY_FIGURE, NULL);
    const char *own = record_get_text(record, "machine"), *machine = own ? own : r->machine;
    cnn_status status = key && whole ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a figure's key");
    for (int i = 0; status == CNN_OK && !f && i < set->count; i++)
        if (strcmp(set->list[i].key, key) == 0) f = &set->list[i];
    if (status == CNN_OK && !f) {
        f = cnn_add_item(&set->list, &set->count, &set->room, sizeof *f, "figures", err);
        if (f) {
            *f = (figure){.key = key, .whole = whole, .resolution = NAN};
            key = whole = NULL;
        }
    }
    if (!f) status = err->status;
    if (status == CNN_OK && whole && strcmp(f->whole, whole) != 0)
        status =
            CNN_FAIL(err, CNN_BAD_ARGUMENT,
                     "%.100s holds figures that differ in what they are to be compared across (--across %.40s), so "
                     "none of them is A or B: give each a file of its own: %.110s and %.110s",
                     r->path, r->across, f->whole, whole);
    if (status == CNN_OK && f->machine[0] == '\0') snprintf(f->machine, sizeof f->machine, "%s", machine);
    if (status == CNN_OK && machine[0] != '\0' && strncmp(f->machine, machine, sizeof f->machine - 1) != 0)
        status = CNN_FAIL(err, CNN_BAD_ARGUMENT,
                          "%.150s holds a figure of two machines, %.64s and %.64s, which are no runs of one: give each "
                          "a file of its own (%.100s)",
                          r->path, f->machine, machine, f->key);
    if (status == CNN_OK && f->build[0] == '\0') snprintf(f->build, sizeof f->build, "%s", r->build);
    if (status == CNN_OK && r->build[0] != '\0' && strcmp(f->build, r->build) != 0)
        status =
            CNN_FAIL(err, CNN_BAD_ARGUMENT,
                     "%.200s holds a figure of two builds of the program or of a plug-in, which are no runs of one: "
                     "give each a file of its own (%.150s)",
                     r->path, f->key);
    free(key);
    free(whole);
    *result = f;
    return status;
}

static cnn_status append(double **list, int *count, double value, cnn_error *err)
{
    double *longer = realloc(*list, ((size_t)*count + 1) * sizeof *longer);
    if (!longer) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d runs", *count + 1);
    *list = longer;
    longer[(*count)++] = value;
    return CNN_OK;
}

/* The epochs of one run of the program are one run's samples. */
static cnn_status add_epoch(figure *f, int run, double seconds, cnn_error *err)
{
    if (f->n_runs == 0 || f->run != run) f->n_epochs = 0;
    cnn_status status = append(&f->epochs, &f->n_epochs, seconds, err);
    if (status == CNN_OK && f->n_epochs == 1) status = append(&f->runs, &f->n_runs, seconds, err);
    if (status != CNN_OK) return status;
    f->run = run;
    f->runs[f->n_runs - 1] = bench_median(f->epochs, f->n_epochs);
    return CNN_OK;
}

/* The first of several environment records counts. */
static cnn_status add_fact(figure_set *set, const char *key, const char *value, cnn_error *err)
{
    if (figures_fact(set, key)) return CNN_OK;
    figure_fact *fact = cnn_add_item(&set->facts, &set->n_facts, &set->fact_room, sizeof *fact, "environments", err);
    if (!fact) return err->status;
    *fact = (figure_fact){strdup(key), strdup(value)};
    return fact->key && fact->value ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the environment");
}

/* What an implementation tells of its device and libraries: "cudnn.driver". Which slot a GPU is in changes nothing. */
static cnn_status add_implementation(figure_set *set, const cnn_record *record, cnn_error *err)
{
    enum { PAIRS_MAX = 64 };
    char key[2 * CNN_NAME_MAX];
    record_pair pairs[PAIRS_MAX];
    const char *impl = record_get_text(record, "impl");
    const int count = record_get_pairs(record, "implementation", pairs, PAIRS_MAX);
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < count; i++) {
        if (strcmp(pairs[i].key, "pci_bus_id") == 0) continue;
        snprintf(key, sizeof key, "%.90s.%.95s", impl ? impl : "implementation", pairs[i].key);
        status = add_fact(set, key, pairs[i].value, err);
    }
    return status;
}

static cnn_status add_environment(reader *r, const cnn_record *record, cnn_error *err)
{
    const char *gpu = record_get_inner_text(record, "implementation", "gpu"), *cpu = record_get_text(record, "cpu");
    cnn_status status = CNN_OK;
    r->set->environments++;
    snprintf(r->machine, sizeof r->machine, "%s", gpu ? gpu : cpu ? cpu : "");
    for (size_t i = 0; status == CNN_OK && i < sizeof fact_fields / sizeof *fact_fields; i++) {
        char *value = record_json(record, fact_fields[i]);
        if (value) status = add_fact(r->set, fact_fields[i], value, err);
        free(value);
    }
    return status == CNN_OK ? add_implementation(r->set, record, err) : status;
}

static cnn_status add_record(void *user, const cnn_record *record, cnn_error *err)
{
    reader *r = user;
    figure *f = NULL;
    const char *kind = record_get_text(record, "kind");
    const bool epoch = strcmp(kind, "epoch") == 0;
    r->records++;
    if (strcmp(kind, "env") == 0) return add_environment(r, record, err);
    if (strcmp(kind, "begin") == 0) {
        const char *build = record_get_text(record, "build");
        snprintf(r->build, sizeof r->build, "%s", build ? build : "");
        return CNN_OK;
    }
    const double seconds = record_get_real(record, epoch ? "seconds" : "median_s");
    if (isnan(seconds)) return CNN_OK;
    if (!(seconds > 0 && isfinite(seconds))) {
        r->set->impossible++;
        return CNN_OK;
    }
    const cnn_status status = figure_of(r, record, &f, err);
    if (status != CNN_OK) return status;
    if (epoch) return add_epoch(f, r->set->environments, seconds, err);
    f->resolution = fmax(f->resolution, record_get_real(record, "resolution")); /* fmax passes over a NaN */
    return append(&f->runs, &f->n_runs, seconds, err);
}

cnn_status figures_read(const char *path, const char *across, figure_set *set, cnn_error *err)
{
    reader r = {.set = set, .path = path, .across = across};
    memset(set, 0, sizeof *set);
    cnn_status status = record_read(path, add_record, &r, &set->bad, err);
    if (status == CNN_OK && r.records == 0) status = CNN_FAIL(err, CNN_BAD_FORMAT, "%.400s holds no records", path);
    if (status != CNN_OK) figures_free(set);
    return status;
}

void figures_free(figure_set *set)
{
    for (int i = 0; i < set->count; i++) {
        free(set->list[i].key);
        free(set->list[i].whole);
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

bool figures_share(const figure_set *a, const figure_set *b, int field)
{
    for (int i = 0; i < a->count; i++)
        for (int k = 0, la, lb; k < b->count; k++) {
            const char *of_a = record_identity_value(a->list[i].whole, field, &la);
            const char *of_b = record_identity_value(b->list[k].whole, field, &lb);
            if (la == lb && strncmp(of_a, of_b, (size_t)la) == 0) return true;
        }
    return false;
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
