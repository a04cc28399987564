/* google.c: Google Benchmark, --benchmark_format=json: {"context", "benchmarks": [{"name", "run_name", "run_type",
 * "real_time", "cpu_time", "time_unit", ...}]}. An entry of run_type "iteration" is one repetition: the mean over its
 * iterations. Those of a benchmark and a number of threads are one record, whose samples are the repetitions. Entries
 * of run_type "aggregate" say the same once more, and count where there is nothing else. */
#include "bench/measure/stats.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool google_is(const cJSON *root)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(root, "benchmarks");
    return cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(root, "context")) && cJSON_IsArray(all) &&
           (all->child == NULL || cJSON_GetObjectItemCaseSensitive(all->child, "name") != NULL);
}

typedef struct entry {
    place at;
    const char *name;      /* of the benchmark, without the aggregate's */
    const char *aggregate; /* NULL: a repetition */
    const char *failure;   /* NULL: it ran */
    double threads, iterations, repetitions, real, cpu;
    bool taken;
} entry;

/* Aggregates that are no times: a coefficient of variation, the order of growth. */
static bool is_time(const char *aggregate)
{
    return aggregate == NULL || strcmp(aggregate, "median") == 0 || strcmp(aggregate, "mean") == 0 ||
           strcmp(aggregate, "stddev") == 0;
}

static double number_of(const cJSON *object, const char *field)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, field);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static cnn_status read_unit(const place *at, double *unit, cnn_error *err)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    const char *name = place_text(at, "time_unit", err);
    if (name == NULL) return err->status;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(name, units[i].name) == 0) {
            *unit = units[i].seconds;
            return CNN_OK;
        }
    return place_fail(at, "time_unit", "is none of ns, us, ms, s", err);
}

static const char *failure_of(const cJSON *object)
{
    const bool failed = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, "error_occurred"));
    const bool skipped = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, "skipped"));
    const char *why =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, failed ? "error_message" : "skip_message"));
    return failed || skipped ? why != NULL && why[0] != '\0' ? why : "it gave no reason" : NULL;
}

static cnn_status read_entry(entry *e, cnn_error *err)
{
    const cJSON *o = e->at.object;
    double unit = 1;
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "run_type"));
    const char *own = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "run_name"));
    const char *name = place_text(&e->at, "name", err);
    if (name == NULL) return err->status;
    e->name = own != NULL && own[0] != '\0' ? own : name;
    e->threads = number_of(o, "threads");
    e->iterations = number_of(o, "iterations");
    e->repetitions = number_of(o, "repetitions");
    if (type != NULL && strcmp(type, "aggregate") == 0) {
        e->aggregate = place_text(&e->at, "aggregate_name", err);
        if (e->aggregate == NULL) return err->status;
    } else if (type != NULL && strcmp(type, "iteration") != 0) {
        return place_fail(&e->at, "run_type", "is neither iteration nor aggregate", err);
    }
    e->failure = failure_of(o);
    e->taken = !is_time(e->aggregate); /* left out */
    if (e->failure != NULL || e->taken) return CNN_OK;
    cnn_status status = read_unit(&e->at, &unit, err);
    if (status == CNN_OK) status = place_time(&e->at, "real_time", unit, &e->real, err);
    if (status == CNN_OK && isnan(e->real)) status = place_fail(&e->at, "real_time", "is not there", err);
    return status == CNN_OK ? place_time(&e->at, "cpu_time", unit, &e->cpu, err) : status;
}

static bool is_same(const entry *a, const entry *b)
{
    return strcmp(a->name, b->name) == 0 && !(fabs(a->threads - b->threads) > 0);
}

/* The repetitions' times, and those of the processor; in their order. */
typedef struct repetitions {
    double *real, *cpu, iterations, by_name[3]; /* by_name: the aggregates median, mean, stddev; NaN: not told */
    int count;
    const char *failure;
} repetitions;

static void gather(entry *list, int count, int first, repetitions *r)
{
    static const char *const names[] = {"median", "mean", "stddev"};
    r->count = 0;
    r->failure = NULL;
    r->iterations = NAN;
    for (int n = 0; n < 3; n++) r->by_name[n] = NAN;
    for (int i = first; i < count; i++) {
        entry *e = &list[i];
        if (e->taken || !is_same(e, &list[first])) continue;
        e->taken = true;
        if (e->failure != NULL) r->failure = e->failure;
        for (int n = 0; n < 3 && e->failure == NULL && e->aggregate != NULL; n++)
            if (strcmp(e->aggregate, names[n]) == 0) r->by_name[n] = e->real;
        if (e->failure != NULL || e->aggregate != NULL) continue;
        r->iterations = e->iterations;
        r->real[r->count] = e->real;
        r->cpu[r->count++] = e->cpu;
    }
}

static void put_repetitions(cnn_record *record, repetitions *r)
{
    double sum = 0, squares = 0;
    record_int(record, "samples", r->count);
    record_reals(record, "samples_s", r->real, r->count);
    for (int i = 0; i < r->count; i++) sum += r->real[i] / r->count;
    for (int i = 0; i < r->count; i++) squares += (r->real[i] - sum) * (r->real[i] - sum);
    const double median = bench_median(r->real, r->count), cpu = bench_median(r->cpu, r->count);
    record_real(record, "median_s", median);
    record_real(record, "mean_s", sum);
    if (r->count > 1) record_real(record, "stddev_s", sqrt(squares / (r->count - 1)));
    record_real(record, "min_s", r->real[0]); /* they are sorted now */
    record_real(record, "max_s", r->real[r->count - 1]);
    import_real(record, "cpu_s", cpu);
    if (r->iterations >= 1 && r->iterations < 1e15) record_int(record, "iterations", (int64_t)r->iterations);
}

static cnn_status add_benchmark(const importing *in, const entry *first, repetitions *r, cnn_error *err)
{
    static const char *const fields[] = {"median_s", "mean_s", "stddev_s"};
    bool zero = false;
    for (int i = 0; i < r->count; i++) zero = zero || !(r->real[i] > 0);
    const bool any = r->count > 0 || r->by_name[0] > 0 || r->by_name[1] > 0;
    cnn_record *record = import_record(in, "benchmark", first->name);
    if (first->threads >= 1 && first->threads < 1e6) record_int(record, "threads", (int64_t)first->threads);
    if (r->failure != NULL || zero || !any) {
        record_text(record, "state", r->failure != NULL ? "FAILED" : "TOO_SHORT");
        record_text(record, "reason", r->failure != NULL ? r->failure : "by its clock it takes 0 s");
    } else if (r->count > 0) {
        put_repetitions(record, r);
    } else {
        for (int n = 0; n < 3; n++) import_real(record, fields[n], r->by_name[n]);
        if (first->repetitions >= 1 && first->repetitions < 1e9)
            record_int(record, "samples", (int64_t)first->repetitions);
    }
    return import_add(in, record, err);
}

cnn_status google_read(const importing *in, cnn_error *err)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(in->root, "benchmarks"), *item;
    const size_t count = (size_t)cJSON_GetArraySize(all);
    entry *list = calloc(count + 1, sizeof *list);
    repetitions r = {.real = calloc(count + 1, sizeof(double)), .cpu = calloc(count + 1, sizeof(double))};
    cnn_status status = list != NULL && r.real != NULL && r.cpu != NULL
                            ? CNN_OK
                            : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the benchmarks of %.300s", in->path);
    int i = 0;
    cJSON_ArrayForEach(item, all)
    {
        if (status != CNN_OK) break;
        list[i].at = place_of(in, item, "benchmarks", i);
        status = cJSON_IsObject(item) ? read_entry(&list[i], err) : place_fail(&list[i].at, "", "is no object", err);
        i++;
    }
    for (int k = 0; status == CNN_OK && k < i; k++) {
        if (list[k].taken) continue;
        const entry first = list[k];
        gather(list, i, k, &r);
        status = add_benchmark(in, &first, &r, err);
    }
    free(list);
    free(r.real);
    free(r.cpu);
    return status;
}
