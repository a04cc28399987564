/* compare_read.c: from records to figures: their runs, the environment. */
#include "bench/measure/stats.h"
#include "compare.h"
#include "harness/base/grow.h"
#include "harness/record/identity.h"
#include "signed_rank.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* Of the environment, what a figure depends on; the date and the load differ by nature. */
static const char *const fact_fields[] = {"cpu",     "cores",  "memory_bytes", "os",    "kernel",     "cpu_governor",
                                          "version", "commit", "compiler",     "flags", "build_type", "clock_source"};

const char *figures_fact_field(int index)
{
    return index >= 0 && index < (int)(sizeof fact_fields / sizeof *fact_fields) ? fact_fields[index] : NULL;
}

enum { ROUNDS_MOST = 1 << 20 }; /* of a command; others are none */

typedef struct reader {
    figure_set *set;
    const char *path, *across;
    const figure_choice *choice;
    figure_values *values; /* NULL: figures are read */
    regex_t match;
    int64_t records, commands;  /* commands: that began; rounds of two are two */
    char machine[CNN_NAME_MAX]; /* the environment record's: epochs do not tell their own */
    char build[BUILD_ID_MAX];   /* of the command that wrote the records that follow */
} reader;

static void note_handover(figure *f, const cnn_record *record)
{
    const double least = 1e-9 * record_get_real(record, "handover_ns_min");
    const double most = 1e-9 * record_get_real(record, "handover_ns_max");
    if (least > 0 && (f->near == 0 || least < f->near)) f->near = least; /* a NaN is neither more nor less */
    if (most > f->far) f->far = most;
}

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
    if (status == CNN_OK) note_handover(f, record);
    *result = f;
    return status;
}

/* "cpu:direct": the values of the fields that do not count, in the order of an identity. To be freed. */
static char *value_across(const char *identity, const char *across)
{
    char *text = NULL;
    const char *name;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    for (int i = 0, n = 0, length; stream && (name = record_identity_name(i)) != NULL; i++) {
        if (!record_listed(across, name)) continue;
        const char *value = record_identity_value(identity, i, &length);
        fprintf(stream, "%s%.*s", n++ > 0 ? ":" : "", length, value);
    }
    if (stream) fclose(stream);
    return text;
}

static cnn_status add_value(figure_values *values, char *value, cnn_error *err)
{
    for (int i = 0; i < values->count; i++)
        if (strcmp(values->list[i], value) == 0) {
            free(value);
            return CNN_OK;
        }
    if (values->count < FIGURE_VALUES_MAX) {
        values->list[values->count++] = value;
        return CNN_OK;
    }
    free(value);
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d values to compare across: choose some with --match",
                    FIGURE_VALUES_MAX);
}

/* Whether the record's figure is to be read; where values are asked for, its value is noted, and it is not. */
static cnn_status choose(const reader *r, const cnn_record *record, bool *chosen, cnn_error *err)
{
    char *whole = record_identity(record, IDENTITY_FIGURE, NULL);
    char *value = whole && r->across ? value_across(whole, r->across) : NULL;
    cnn_status status =
        whole && (value || !r->across) ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a key");
    *chosen = status == CNN_OK && (!r->choice->match || regexec(&r->match, whole, 0, NULL, 0) == 0);
    if (*chosen && r->values) {
        status = add_value(r->values, value, err);
        value = NULL;
        *chosen = false;
    }
    if (*chosen && r->choice->only) *chosen = value && strcmp(value, r->choice->only) == 0;
    free(whole);
    free(value);
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

/* Of `bench --processes`. A' is the baseline once more: no run of its own. */
static cnn_status add_process(const reader *r, figure *f, const cnn_record *record, double seconds, cnn_error *err)
{
    const double round = record_get_real(record, "round");
    const char *arm = record_get_text(record, "arm");
    const bool again = arm != NULL && strcmp(arm, "A'") == 0;
    if (arm == NULL || !(round >= 1 && round < ROUNDS_MOST)) return append(&f->runs, &f->n_runs, seconds, err);
    if (f->n_processes == 2 * SIGNED_RANK_MOST)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "%.150s holds more than %d processes of a figure: choose some with --match, or give a run of "
                        "`bench --processes` a file of its own (%.150s)",
                        r->path, 2 * SIGNED_RANK_MOST, f->key);
    figure_process *p = cnn_add_item(&f->processes, &f->n_processes, &f->process_room, sizeof *p, "processes", err);
    if (!p) return err->status;
    *p = (figure_process){r->commands * ROUNDS_MOST + (int64_t)round, seconds, again};
    return again ? CNN_OK : append(&f->runs, &f->n_runs, seconds, err);
}

/* Of hyperfine: each sample is a process, and so a run. */
static cnn_status add_samples(figure_set *set, figure *f, const cnn_record *record, cnn_error *err)
{
    const int count = record_get_reals(record, "samples_s", NULL, 0);
    double *samples = calloc((size_t)count + 1, sizeof *samples);
    cnn_status status = samples ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d processes", count);
    if (samples) record_get_reals(record, "samples_s", samples, count);
    for (int i = 0; i < count && status == CNN_OK; i++) {
        if (samples[i] > 0 && isfinite(samples[i]))
            status = append(&f->runs, &f->n_runs, samples[i], err);
        else
            set->impossible++;
    }
    free(samples);
    return status;
}

/* What a record's figure is; NaN: it has none. nvbench may tell no median. */
static double seconds_of(const char *kind, const cnn_record *record)
{
    const double seconds = record_get_real(record, strcmp(kind, "epoch") == 0 ? "seconds" : "median_s");
    return isnan(seconds) && strcmp(kind, "benchmark") == 0 ? record_get_real(record, "mean_s") : seconds;
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
        r->commands++;
        return CNN_OK;
    }
    const double seconds = seconds_of(kind, record);
    if (isnan(seconds)) return CNN_OK;
    if (!(seconds > 0 && isfinite(seconds))) {
        r->set->impossible++;
        return CNN_OK;
    }
    bool chosen;
    cnn_status status = choose(r, record, &chosen, err);
    if (status != CNN_OK || !chosen) return status;
    status = figure_of(r, record, &f, err);
    if (status != CNN_OK) return status;
    if (epoch) return add_epoch(f, r->set->environments, seconds, err);
    if (strcmp(kind, "process") == 0 && record_get_reals(record, "samples_s", NULL, 0) > 0)
        return add_samples(r->set, f, record, err);
    f->resolution = fmax(f->resolution, record_get_real(record, "resolution")); /* fmax passes over a NaN */
    return add_process(r, f, record, seconds, err);
}

static cnn_status read_file(reader *r, const char *path, cnn_error *err)
{
    const char *match = r->choice->match;
    char why[128];
    const int code = match ? regcomp(&r->match, match, REG_EXTENDED | REG_NOSUB) : 0;
    if (code != 0) {
        regerror(code, &r->match, why, sizeof why);
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--match '%.128s' is no regular expression: %s", match, why);
    }
    r->path = path;
    r->across = r->choice->across;
    memset(r->set, 0, sizeof *r->set);
    cnn_status status = record_read(path, add_record, r, &r->set->bad, err);
    if (match) regfree(&r->match);
    for (int i = 0; i < r->set->count; i++)
        r->set->list[i].resolution = fmax(r->set->list[i].resolution, compare_itself(&r->set->list[i]));
    if (status == CNN_OK && r->records == 0) status = CNN_FAIL(err, CNN_BAD_FORMAT, "%.400s holds no records", path);
    if (status != CNN_OK) figures_free(r->set);
    return status;
}

cnn_status figures_read(const char *path, const figure_choice *choice, figure_set *set, cnn_error *err)
{
    reader r = {.set = set, .choice = choice};
    return read_file(&r, path, err);
}

cnn_status figures_values(const char *path, const figure_choice *choice, figure_values *values, cnn_error *err)
{
    figure_set none;
    reader r = {.set = &none, .choice = choice, .values = values};
    *values = (figure_values){.count = 0};
    const cnn_status status = read_file(&r, path, err);
    if (status == CNN_OK) figures_free(&none);
    return status;
}

void figures_values_free(figure_values *values)
{
    while (values->count > 0) free(values->list[--values->count]);
}

void figures_free(figure_set *set)
{
    for (int i = 0; i < set->count; i++) {
        free(set->list[i].key);
        free(set->list[i].whole);
        free(set->list[i].runs);
        free(set->list[i].epochs);
        free(set->list[i].processes);
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
