/* record.c: building a record. Numbers are formatted here, not by cJSON, which would turn large integers into
 * doubles. */
#include "record_object.h"

#include "harness/base/text.h"
#include "harness/device/call.h"
#include "harness/problem/names.h"
#include "harness/problem/problem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

cnn_record *record_new(const char *kind)
{
    cnn_record *record = calloc(1, sizeof *record);
    if (!record) return NULL;
    record->object = cJSON_CreateObject();
    if (!record->object) {
        free(record);
        return NULL;
    }
    record_text(record, "kind", kind);
    return record;
}

void record_free(cnn_record *record)
{
    if (!record) return;
    cJSON_Delete(record->object);
    free(record);
}

/* A copy in which every byte that is not UTF-8 (a file name may hold any) is '?', so that the line stays valid JSON;
 * and what a terminal obeys where JSON does not escape it. */
static char *utf8_copy(const char *text)
{
    char *copy = strdup(text);
    if (!copy) return NULL;
    for (size_t i = 0; copy[i] != '\0';) {
        char shown[CNN_SHOWN_MAX];
        const size_t length = cnn_show_character(copy + i, shown);
        if (shown[0] == '\\' && copy[i] != '\\' && (unsigned char)copy[i] >= 0x7F) copy[i] = '?';
        i += length;
    }
    return copy;
}

/* Adds an item to an object; a NULL item stands for memory that ran out. False: the item is gone. */
static bool add_item(cnn_record *record, cJSON *object, const char *key, cJSON *item)
{
    if (item && cJSON_AddItemToObject(object, key, item)) return true;
    cJSON_Delete(item);
    record->failed = true;
    return false;
}

static cJSON *new_text(const char *value)
{
    if (!value) return cJSON_CreateNull();
    char *copy = utf8_copy(value);
    cJSON *item = copy ? cJSON_CreateString(copy) : NULL;
    free(copy);
    return item;
}

static cJSON *new_int(int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    return cJSON_CreateRaw(text);
}

/* Nine digits tell any two f32 apart and are far beyond a clock's truth; whole numbers (FLOPs, bytes) stay exact. */
static cJSON *new_real(double value)
{
    char text[40];
    if (!isfinite(value)) return cJSON_CreateNull();
    bool whole = fabs(value) < 9007199254740992.0 && value == floor(value);
    snprintf(text, sizeof text, whole ? "%.0f" : "%.9g", value);
    return cJSON_CreateRaw(text);
}

void record_text(cnn_record *record, const char *key, const char *value)
{
    if (record) add_item(record, record->object, key, new_text(value));
}

void record_int(cnn_record *record, const char *key, int64_t value)
{
    if (record) add_item(record, record->object, key, new_int(value));
}

void record_real(cnn_record *record, const char *key, double value)
{
    if (record) add_item(record, record->object, key, new_real(value));
}

void record_bool(cnn_record *record, const char *key, bool value)
{
    if (record) add_item(record, record->object, key, cJSON_CreateBool(value));
}

void record_reals(cnn_record *record, const char *key, const double *values, int count)
{
    if (!record) return;
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; array && i < count; i++) {
        cJSON *item = new_real(values[i]);
        if (!item || !cJSON_AddItemToArray(array, item)) {
            cJSON_Delete(item);
            record->failed = true;
        }
    }
    add_item(record, record->object, key, array);
}

void record_copy(cnn_record *record, const cnn_record *from, const char *const *fields, int count)
{
    const cJSON *item = NULL, *const all = record && from ? from->object : item;
    cJSON_ArrayForEach(item, all)
    {
        int i = 0;
        while (i < count && (fields[i][0] != item->string[0] || strcmp(fields[i], item->string) != 0)) i++;
        if (i < count) add_item(record, record->object, item->string, cJSON_Duplicate(item, true));
    }
}

/* The object under `key`, made where there is none yet; NULL when out of memory. */
static cJSON *object_in(cnn_record *record, const char *key)
{
    cJSON *object = record ? cJSON_GetObjectItemCaseSensitive(record->object, key) : NULL;
    if (!record || object) return object;
    object = cJSON_CreateObject();
    return add_item(record, record->object, key, object) ? object : NULL;
}

void record_text_in(cnn_record *record, const char *object, const char *key, const char *value)
{
    cJSON *texts = object_in(record, object);
    if (texts) add_item(record, texts, key, new_text(value));
}

void record_text_pairs(cnn_record *record, const char *key, const record_pair *pairs, int count)
{
    (void)object_in(record, key);
    for (int i = 0; i < count; i++) record_text_in(record, key, pairs[i].key, pairs[i].value);
}

void record_int_pairs(cnn_record *record, const char *key, const record_pair *pairs, int count)
{
    cJSON *object = object_in(record, key);
    for (int i = 0; object && i < count; i++)
        add_item(record, object, pairs[i].key, new_int(strtoll(pairs[i].value, NULL, 10)));
}

/* What a descriptor does not say. */
static void put_variant(cnn_record *record, const cnn_problem *problem)
{
    if (problem->op == CNN_OP_FC) record_bool(record, "bias", problem->u.fc.bias);
    if (!cnn_is_conv(problem)) return;
    record_bool(record, "bias", problem->u.conv.bias);
    record_text(record, "mode", problem->u.conv.flip ? "convolution" : "cross_correlation");
}

void record_problem(cnn_record *record, const cnn_problem *problem, cnn_dir dir)
{
    char text[CNN_PROBLEM_TEXT_MAX];
    cnn_problem_format(problem, text);
    record_text(record, "op", cnn_op_name(problem->op));
    record_text(record, "problem", text);
    put_variant(record, problem);
    record_text(record, "dir", cnn_dir_name(dir));
    record_text(record, "dtype", cnn_dtype_name(problem->u.type.dtype));
    record_text(record, "math", cnn_math_name(problem->u.type.math));
    record_text(record, "layout", cnn_layout_name(problem->u.type.layout));
}

/* {"OPENBLAS_CORETYPE":"..."}: what makes this figure other than it should be. */
static void put_warning(void *user, const char *key, const char *value)
{
    const size_t prefix = strlen(CNN_WARNING);
    if (strncmp(key, CNN_WARNING, prefix) == 0) record_text_in(user, "warnings", key + prefix, value);
}

void record_choice(cnn_record *record, const char *tuned, const char *settled)
{
    if (tuned != NULL) record_text(record, "choice", tuned);
    if (settled != NULL && settled[0] != '\0') record_text(record, tuned != NULL ? "inner_choice" : "choice", settled);
}

void record_session(cnn_record *record, const cnn_session *session, const char *algorithm)
{
    if (!record) return;
    record_text(record, "impl", session->impl->name);
    if (algorithm) record_text(record, "algorithm", algorithm);
    record_int(record, "threads", session->threads);
    cJSON *knobs = object_in(record, "knobs");
    for (int i = 0; knobs && i < session->impl->n_knobs; i++) {
        const cnn_knob *knob = &session->impl->knobs[i];
        if (session->knobs[i] != knob->def) add_item(record, knobs, knob->name, new_int(session->knobs[i]));
    }
    /* a case that ran elsewhere, in a process of its own, has no context here */
    if (session->context) cnn_describe(session, put_warning, record);
}
