/* record_read.c: reading JSON Lines back. A line that is not a whole record (torn by a kill, edited by hand) is counted
 * and passed over; the others are not its hostages. */
#include "record_object.h"

#include "harness/base/input.h"
#include "harness/base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* NULL when the line is no record. */
cJSON *record_parse(const char *line, size_t length)
{
    if (strlen(line) != length) return NULL; /* a NUL byte: the tail of a file that a crash filled with zeros */
    cJSON *object = cJSON_ParseWithOpts(line, NULL, true);
    if (object && cJSON_IsObject(object) && cJSON_IsString(cJSON_GetObjectItemCaseSensitive(object, "kind")))
        return object;
    cJSON_Delete(object);
    return NULL;
}

bool record_whole(const char *line, size_t length)
{
    cJSON *object = record_parse(line, length);
    const bool whole = object != NULL;
    cJSON_Delete(object);
    return whole;
}

bool record_begins(const char *line, size_t length)
{
    static const char torn[] = "{\"kind\":";
    const size_t common = length < sizeof torn - 1 ? length : sizeof torn - 1;
    return memcmp(line, torn, common) == 0 || record_whole(line, length);
}

static bool is_blank(const char *line, size_t length) { return strspn(line, " \t\r") == length; }

/* bad NULL: strictly. */
static cnn_status read_lines(const char *path, record_each *each, record_bad_line *bad, void *user, cnn_error *err)
{
    int number = 0;
    cnn_status status = CNN_OK;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    const char *why;
    FILE *file = input_stream(path, &why);
    if (!file) return CNN_FAIL(err, CNN_IO, "cannot read %s: %s", path, why);
    errno = 0;
    while (status == CNN_OK && (length = input_line(&line, &capacity, file)) >= 0) {
        size_t size = (size_t)length;
        if (size > 0 && line[size - 1] == '\n') line[--size] = '\0';
        number++;
        if (is_blank(line, size)) continue;
        cJSON *object = record_parse(line, size);
        if (object)
            status = each(user, &(cnn_record){.object = object, .line = number, .source = line}, err);
        else if (bad)
            bad(user, number, line);
        else
            status = CNN_FAIL(err, CNN_BAD_FORMAT, "'%.40s' is no record, {\"kind\":...}", line);
        if (!bad && status != CNN_OK) cnn_error_before(err, status, "%.200s:%d: ", path, number);
        cJSON_Delete(object);
        errno = 0;
    }
    if (status == CNN_OK && !feof(file)) status = CNN_FAIL(err, CNN_IO, "cannot read %s: %s", path, input_line_why());
    free(line);
    fclose(file);
    return status;
}

cnn_status record_read_lines(const char *path, record_each *each, record_bad_line *bad, void *user, cnn_error *err)
{
    return read_lines(path, each, bad, user, err);
}

typedef struct counted {
    record_each *each;
    void *user;
    int *bad;
} counted;

static cnn_status hand_on(void *user, const cnn_record *record, cnn_error *err)
{
    const counted *c = user;
    return c->each(c->user, record, err);
}

static void count_bad(void *user, int number, const char *line)
{
    (void)number;
    (void)line;
    ++*((const counted *)user)->bad;
}

cnn_status record_read(const char *path, record_each *each, void *user, int *bad, cnn_error *err)
{
    counted c = {each, user, bad};
    *bad = 0;
    return read_lines(path, hand_on, count_bad, &c, err);
}

cnn_status record_read_strictly(const char *path, record_each *each, void *user, cnn_error *err)
{
    return read_lines(path, each, NULL, user, err);
}

cnn_status record_read_line(const char *line, record_each *each, void *user, cnn_error *err)
{
    cJSON *object = record_parse(line, strlen(line));
    if (!object) return CNN_FAIL(err, CNN_BAD_FORMAT, "'%.40s' is no record", line);
    const cnn_status status = each(user, &(cnn_record){.object = object, .source = line}, err);
    cJSON_Delete(object);
    return status;
}

/* Whole numbers up to 2^53, as JSON has them. */
static bool pair_of(const cJSON *item, record_pair *pair)
{
    const char *text = cJSON_GetStringValue(item);
    if (strlen(item->string) >= sizeof pair->key || (text && strlen(text) >= sizeof pair->value)) return false;
    strcpy(pair->key, item->string);
    if (text) strcpy(pair->value, text);
    if (text || !cJSON_IsNumber(item)) return text != NULL;
    if (!(fabs(item->valuedouble) < 9007199254740992.0) || floor(item->valuedouble) < item->valuedouble) return false;
    snprintf(pair->value, sizeof pair->value, "%.0f", item->valuedouble);
    return true;
}

int record_get_pairs(const cnn_record *record, const char *key, record_pair *pairs, int capacity)
{
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(record->object, key), *item;
    int count = 0;
    if (!cJSON_IsObject(object)) return -1;
    cJSON_ArrayForEach(item, object)
    {
        if (count == capacity || !pair_of(item, &pairs[count])) return -1;
        count++;
    }
    return count;
}

int record_line(const cnn_record *record) { return record->line; }
const char *record_source(const cnn_record *record) { return record->source; }

const char *record_get_text(const cnn_record *record, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(record->object, key));
}

const char *record_get_inner_text(const cnn_record *record, const char *object, const char *key)
{
    const cJSON *inner = cJSON_GetObjectItemCaseSensitive(record->object, object);
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(inner, key));
}

/* Numbers of a record under construction are raw text, so that they have the digits that they are to have. */
double record_get_real(const cnn_record *record, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(record->object, key);
    if (cJSON_IsRaw(item)) return strtod(item->valuestring, NULL);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

int record_get_reals(const cnn_record *record, const char *key, double *values, int capacity)
{
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(record->object, key), *item;
    int count = 0;
    cJSON_ArrayForEach(item, items)
    {
        if (values != NULL && count < capacity) values[count] = cJSON_IsNumber(item) ? item->valuedouble : NAN;
        count++;
    }
    return count;
}

bool record_is(const cnn_record *record, const char *key, bool value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(record->object, key);
    return value ? cJSON_IsTrue(item) : cJSON_IsFalse(item);
}

const char *record_field(const cnn_record *record, int index)
{
    const cJSON *item = cJSON_GetArrayItem(record->object, index);
    return item ? item->string : NULL;
}

char *record_json(const cnn_record *record, const char *key)
{
    const cJSON *item = record ? cJSON_GetObjectItemCaseSensitive(record->object, key) : NULL;
    return item ? cJSON_PrintUnformatted(item) : NULL;
}
