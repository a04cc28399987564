/* nvbench.c: nvbench, --json: {"devices": [{"id", "name"}], "benchmarks": [{"name", "states": [{"device",
 * "axis_values", "summaries": [{"tag", "data": [{"name": "value", "value"}]}], "is_skipped"}]}]}. Numbers are texts
 * there, times are in seconds. Times of the GPU in isolation ("cold") count: its L2 is flushed before each. */
#include "harness/base/text.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool nvbench_is(const cJSON *root)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(root, "benchmarks");
    return cJSON_IsArray(all) && all->child != NULL && cJSON_GetObjectItemCaseSensitive(all->child, "states") != NULL;
}

static const char *device_name(const cJSON *root, const cJSON *state)
{
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(state, "device"), *device;
    cJSON_ArrayForEach(device, cJSON_GetObjectItemCaseSensitive(root, "devices"))
    {
        const cJSON *own = cJSON_GetObjectItemCaseSensitive(device, "id");
        if (cJSON_IsNumber(id) && cJSON_IsNumber(own) && id->valueint == own->valueint)
            return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(device, "name"));
    }
    return NULL;
}

/* The text or number of a value. */
static const char *value_text(const cJSON *item, char *room, size_t size)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, "value");
    if (cJSON_IsNumber(value)) snprintf(room, size, "%.17g", value->valuedouble);
    return cJSON_IsNumber(value) ? room : cJSON_GetStringValue(value);
}

/* The summary's number; NaN: there is no such summary. CNN_BAD_FORMAT where it is none. */
static cnn_status summary(const place *at, const char *tag, double *number, cnn_error *err)
{
    const cJSON *item, *data;
    char room[40];
    *number = NAN;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(at->object, "summaries"))
    {
        const char *own = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "tag"));
        if (own == NULL || strcmp(own, tag) != 0) continue;
        cJSON_ArrayForEach(data, cJSON_GetObjectItemCaseSensitive(item, "data"))
        {
            const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(data, "name"));
            const char *text = value_text(data, room, sizeof room);
            char *end = NULL;
            if (name == NULL || strcmp(name, "value") != 0) continue;
            if (cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(data, "value"))) continue;
            *number = text != NULL ? strtod(text, &end) : NAN;
            if (text == NULL || end == text || *end != '\0' || *number < 0)
                return place_fail(at, tag, "is no number of at least 0", err);
            *number = isfinite(*number) ? fabs(*number) : NAN; /* of -0; of the deviation of one sample */
        }
    }
    return CNN_OK;
}

/* "copy BlockSize=256 T=F32": the benchmark's name, and where it is on its axes. */
static cnn_status name_state(const place *at, const char *benchmark, char *name, size_t size, cnn_error *err)
{
    const cJSON *item;
    char room[40];
    snprintf(name, size, "%.300s", benchmark);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(at->object, "axis_values"))
    {
        const char *axis = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
        const char *value = value_text(item, room, sizeof room);
        if (axis == NULL || value == NULL) return place_fail(at, "axis_values", "lacks a name or a value", err);
        cnn_append(name, size, " %.100s=%.100s", axis, value);
    }
    return CNN_OK;
}

static cnn_status put_times(const place *at, cnn_record *record, cnn_error *err)
{
    static const struct {
        const char *tag, *field;
    } times[] = {{"nv/cold/time/gpu/median", "median_s"},
                 {"nv/cold/time/gpu/mean", "mean_s"},
                 {"nv/cold/time/gpu/stdev/absolute", "stddev_s"},
                 {"nv/cold/time/gpu/min", "min_s"},
                 {"nv/cold/time/gpu/max", "max_s"},
                 {"nv/cold/time/gpu/q1", "q1_s"},
                 {"nv/cold/time/gpu/q3", "q3_s"},
                 {"nv/cold/time/cpu/mean", "cpu_s"},
                 {"nv/batch/time/gpu/mean", "batch_s"}};
    double number, samples, mean = NAN, relative;
    cnn_status status = summary(at, "nv/cold/sample_size", &samples, err);
    if (status == CNN_OK) status = summary(at, "nv/cold/time/gpu/mean", &mean, err);
    if (status == CNN_OK && !(mean > 0))
        status = place_fail(at, "nv/cold/time/gpu/mean", "is no time above 0, or is not there", err);
    if (status == CNN_OK) status = summary(at, "nv/cold/time/gpu/stdev/relative", &relative, err);
    for (size_t i = 0; status == CNN_OK && i < sizeof times / sizeof *times; i++) {
        status = summary(at, times[i].tag, &number, err);
        if (isnan(number) && strcmp(times[i].field, "stddev_s") == 0) number = relative * mean;
        if (status == CNN_OK) import_real(record, times[i].field, number);
    }
    if (status == CNN_OK && samples >= 1 && samples < 1e15) record_int(record, "samples", (int64_t)samples);
    return status;
}

static cnn_status read_state(const importing *in, const place *at, const char *benchmark, cnn_error *err)
{
    char name[1024];
    if (!cJSON_IsObject(at->object)) return place_fail(at, "", "is no object", err);
    if (name_state(at, benchmark, name, sizeof name, err) != CNN_OK) return err->status;
    const char *machine = device_name(in->root, at->object);
    const char *why = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(at->object, "skip_reason"));
    const bool skipped = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(at->object, "is_skipped"));
    cnn_record *record = import_record(in, "benchmark", name);
    if (machine != NULL) record_text(record, "machine", machine);
    record_text(record, "cache", "cold");
    if (skipped) {
        record_text(record, "state", "SKIPPED");
        record_text(record, "reason", why != NULL ? why : "it gave no reason");
    } else if (put_times(at, record, err) != CNN_OK) {
        record_free(record);
        return err->status;
    }
    return import_add(in, record, err);
}

cnn_status nvbench_read(const importing *in, cnn_error *err)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(in->root, "benchmarks"), *item, *state;
    cnn_status status = CNN_OK;
    int b = 0;
    cJSON_ArrayForEach(item, all)
    {
        const place at = place_of(in, item, "benchmarks", b++);
        const char *name = status == CNN_OK ? place_text(&at, "name", err) : NULL;
        const cJSON *states = cJSON_GetObjectItemCaseSensitive(item, "states");
        int s = 0;
        if (status == CNN_OK && name == NULL) status = err->status;
        if (status == CNN_OK && states != NULL && !cJSON_IsArray(states) && !cJSON_IsNull(states))
            status = place_fail(&at, "states", "is no list", err);
        cJSON_ArrayForEach(state, states)
        {
            char list[PLACE_MAX];
            snprintf(list, sizeof list, "%.40s.states", at.text);
            const place own = place_of(in, state, list, s++);
            if (status == CNN_OK) status = read_state(in, &own, name, err);
        }
    }
    return status;
}
