/* record_read.c: reading JSON Lines back. A line that is not a whole record (torn by a kill, edited by hand) is counted
 * and passed over; the others are not its hostages. */
#include "record_object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* NULL when the line is no record. */
static cJSON *parse_line(const char *line, size_t length)
{
    if (strlen(line) != length) return NULL; /* a NUL byte: the tail of a file that a crash filled with zeros */
    cJSON *object = cJSON_ParseWithOpts(line, NULL, true);
    if (object && cJSON_IsObject(object) && cJSON_IsString(cJSON_GetObjectItemCaseSensitive(object, "kind")))
        return object;
    cJSON_Delete(object);
    return NULL;
}

static bool is_blank(const char *line, size_t length) { return strspn(line, " \t\r") == length; }

cnn_status record_read(const char *path, record_each *each, void *user, int *bad, cnn_error *err)
{
    cnn_status status = CNN_OK;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    *bad = 0;
    FILE *file = fopen(path, "re");
    if (!file) return CNN_FAIL(err, CNN_IO, "cannot read %s: %s", path, strerror(errno));
    errno = 0;
    while (status == CNN_OK && (length = getline(&line, &capacity, file)) >= 0) {
        size_t size = (size_t)length;
        if (size > 0 && line[size - 1] == '\n') line[--size] = '\0';
        if (is_blank(line, size)) continue;
        cJSON *object = parse_line(line, size);
        if (object)
            status = each(user, &(cnn_record){.object = object}, err);
        else
            ++*bad;
        cJSON_Delete(object);
        errno = 0;
    }
    if (status == CNN_OK && !feof(file)) status = CNN_FAIL(err, CNN_IO, "cannot read %s: %s", path, strerror(errno));
    free(line);
    fclose(file);
    return status;
}

const char *record_get_text(const cnn_record *record, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(record->object, key));
}

const char *record_get_inner_text(const cnn_record *record, const char *object, const char *key)
{
    const cJSON *inner = cJSON_GetObjectItemCaseSensitive(record->object, object);
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(inner, key));
}

bool record_get_real(const cnn_record *record, const char *key, double *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(record->object, key);
    if (!cJSON_IsNumber(item)) return false;
    *value = item->valuedouble;
    return true;
}

bool record_get_json(const cnn_record *record, const char *key, char *text, int size)
{
    cJSON *item = cJSON_GetObjectItemCaseSensitive(record->object, key);
    return item && cJSON_PrintPreallocated(item, text, size, false);
}
