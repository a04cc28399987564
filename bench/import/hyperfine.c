/* hyperfine.c: `hyperfine --export-json`: {"results": [{"command", "median", "times": [...], ...}]}, in seconds. Each
 * time is that of a whole process. */
#include "bench/measure/stats.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool hyperfine_is(const cJSON *root)
{
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(root, "results");
    return cJSON_IsArray(results) &&
           (results->child == NULL || cJSON_GetObjectItemCaseSensitive(results->child, "command") != NULL);
}

/* What is told twice must agree: a file that was edited, or joined of two, does not. */
static cnn_status check_median(const place *at, double median, const double *times, int count, cnn_error *err)
{
    char what[96];
    double *sorted = count > 0 ? malloc((size_t)count * sizeof *sorted) : NULL;
    if (count == 0) return CNN_OK;
    if (sorted == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the times of %.300s", at->file->path);
    memcpy(sorted, times, (size_t)count * sizeof *sorted);
    const double own = bench_median(sorted, count);
    free(sorted);
    if (fabs(own - median) <= 1e-6 * own) return CNN_OK;
    snprintf(what, sizeof what, "is %g, and its times' median is %g", median, own);
    return place_fail(at, "median", what, err);
}

static int failed_runs(const cJSON *result)
{
    const cJSON *codes = cJSON_GetObjectItemCaseSensitive(result, "exit_codes"), *code;
    int failed = 0;
    cJSON_ArrayForEach(code, codes) failed +=
        !cJSON_IsNumber(code) || code->valuedouble > 0 || code->valuedouble < 0; /* null: by a signal */
    return failed;
}

enum { PARAMETERS_MAX = 32 };

static bool is_new_name(const record_pair *pairs, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(pairs[i].key, name) == 0) return false;
    return name[0] != '\0';
}

/* Of --parameter-scan and --parameter-list. */
static cnn_status read_parameters(const place *at, record_pair pairs[PARAMETERS_MAX], int *count, cnn_error *err)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(at->object, "parameters"), *item;
    *count = 0;
    if (all != NULL && !cJSON_IsNull(all) && !cJSON_IsObject(all))
        return place_fail(at, "parameters", "is no object of texts", err);
    cJSON_ArrayForEach(item, all)
    {
        record_pair *pair = &pairs[*count];
        const char *value = cJSON_GetStringValue(item);
        if (value == NULL || *count == PARAMETERS_MAX) continue;
        snprintf(pair->key, sizeof pair->key, "%s", item->string);
        snprintf(pair->value, sizeof pair->value, "%s", value);
        if (!is_new_name(pairs, *count, pair->key))
            return place_fail(at, "parameters", "holds a name twice, or none", err);
        ++*count;
    }
    return CNN_OK;
}

static cnn_status read_result(const importing *in, const place *at, cnn_error *err)
{
    static const char *const names[] = {"median", "mean", "stddev", "min", "max", "user", "system"};
    static const char *const fields[] = {"median_s", "mean_s", "stddev_s", "min_s", "max_s", "user_s", "system_s"};
    enum { NUMBERS = sizeof names / sizeof *names };
    double numbers[NUMBERS], *times = NULL;
    record_pair parameters[PARAMETERS_MAX];
    int count = 0, n_parameters;
    const char *command = place_text(at, "command", err);
    cnn_status status = command != NULL ? CNN_OK : err->status;
    for (int i = 0; i < NUMBERS && status == CNN_OK; i++) status = place_time(at, names[i], 1, &numbers[i], err);
    if (status == CNN_OK && !(numbers[0] > 0)) status = place_fail(at, "median", "is no time above 0", err);
    if (status == CNN_OK) status = place_times(at, "times", &times, &count, err);
    if (status == CNN_OK) status = check_median(at, numbers[0], times, count, err);
    if (status == CNN_OK) status = read_parameters(at, parameters, &n_parameters, err);
    if (status == CNN_OK) {
        cnn_record *record = import_record(in, "process", command);
        if (n_parameters > 0) record_text_pairs(record, "parameters", parameters, n_parameters);
        for (int i = 0; i < NUMBERS; i++) import_real(record, fields[i], numbers[i]);
        if (count > 0) record_int(record, "samples", count);
        if (count > 0) record_reals(record, "samples_s", times, count);
        record_int(record, "failed", failed_runs(at->object));
        status = import_add(in, record, err);
    }
    free(times);
    return status;
}

cnn_status hyperfine_read(const importing *in, cnn_error *err)
{
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(in->root, "results"), *result;
    cnn_status status = CNN_OK;
    int i = 0;
    cJSON_ArrayForEach(result, results)
    {
        const place at = place_of(in, result, "results", i++);
        if (status == CNN_OK && !cJSON_IsObject(result)) status = place_fail(&at, "", "is no object", err);
        if (status == CNN_OK) status = read_result(in, &at, err);
    }
    return status;
}
