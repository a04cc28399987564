/* identity.c: the fields that tell figures apart, once. */
#include "identity.h"

#include "harness/problem/names.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORD = IDENTITY_RECORD,
    POINT = RECORD | IDENTITY_POINT,
    FIGURE = POINT | IDENTITY_FIGURE,
    TASK = FIGURE | IDENTITY_TASK
};

/* A record lacks the fields that are not of its kind. `usual`: as JSON, what older records do not say. */
static const struct {
    const char *field;
    int scopes;
    const char *usual;
} fields[] = {
    {"kind", RECORD | IDENTITY_FIGURE, ""},
    {"impl", FIGURE, ""},
    {"algorithm", FIGURE, ""},
    {"op", TASK, ""},
    {"problem", TASK, ""},
    {"bias", TASK, "true"},
    {"mode", TASK, "\"cross_correlation\""},
    {"net", TASK, ""},
    {"net_crc", TASK, ""},
    {"data", TASK, ""},
    {"dir", TASK, ""},
    {"dtype", TASK, ""},
    {"layout", TASK, ""},
    {"math", TASK, ""},
    {"batch", TASK, ""},
    {"threads", FIGURE, ""},
    {"knobs", FIGURE, "{}"},
    {"cache", TASK, ""},
    {"optimizer", TASK, ""},
    {"seed", FIGURE, ""},
    {"shift", TASK, "0"},
    {"loss_scale", TASK, "0"},
    {"graph", FIGURE, ""},
    {"data_on", FIGURE, ""},
    {"train_images", TASK, ""},
    {"test_images", TASK, ""},
    {"program", TASK, ""},
    {"machine", POINT, ""},
    {"check", RECORD, ""},
    {"epoch", RECORD, ""},
    {"layer", RECORD, ""},
    {"phase", RECORD, ""},
    {"what", RECORD, ""},
    {"variant", RECORD, ""},
    {"figure", RECORD, ""},
};

enum { FIELDS = sizeof fields / sizeof *fields };

bool record_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ','), at = at ? at + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    return false;
}

record_naming record_chosen(const char *list, const char *impl, const char *algorithm)
{
    char word[4 * CNN_NAME_MAX], name[4 * CNN_NAME_MAX];
    snprintf(name, sizeof name, "%s:%s", impl, algorithm);
    for (const char *at = list; at != NULL; at = strchr(at, ','), at = at != NULL ? at + 1 : NULL) {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        const bool whole = strchr(word, ':') != NULL;
        if (fnmatch(word, whole ? name : impl, 0) == 0) return whole ? RECORD_BY_ALGORITHM : RECORD_BY_NAME;
    }
    return list == NULL ? RECORD_BY_ALGORITHM : RECORD_NOT_CHOSEN;
}

cnn_status record_identity_fields(const char *names, identity_scope scope, cnn_error *err)
{
    const char *known[FIELDS];
    cnn_name_set set = {"field", known, 0};
    for (int i = 0; i < FIELDS; i++)
        if (fields[i].scopes & (int)scope) known[set.count++] = fields[i].field;
    for (const char *at = names; at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
        char name[CNN_NAME_MAX];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (cnn_name_find(&set, name, err) < 0) return err->status;
    }
    return CNN_OK;
}

const char *record_identity_name(int field) { return field < FIELDS ? fields[field].field : NULL; }

/* Behind the "NAME=" of this field. */
static const char *find_value(const char *identity, int field)
{
    const size_t length = strlen(fields[field].field);
    for (const char *at = identity; (at = strstr(at, fields[field].field)) != NULL; at += length)
        if ((at == identity || at[-1] == ' ') && at[length] == '=') return at + length + 1;
    return NULL;
}

const char *record_identity_value(const char *identity, int field, int *length)
{
    const char *value = find_value(identity, field), *next = NULL;
    if (!value) value = "";
    for (int i = field + 1; i < FIELDS && !next; i++) { /* fields stand in the table's order */
        next = find_value(value, i);
        if (next) next -= strlen(fields[i].field) + 2;
    }
    *length = next ? (int)(next - value) : (int)strlen(value);
    return value;
}

char *record_identity(const cnn_record *record, identity_scope scope, const char *without)
{
    char *key = NULL;
    size_t size;
    const char *space = "";
    FILE *stream = open_memstream(&key, &size);
    for (int i = 0; stream && i < FIELDS; i++) {
        if (!(fields[i].scopes & (int)scope) || record_listed(without, fields[i].field)) continue;
        char *value = record_json(record, fields[i].field);
        if (value && strcmp(value, fields[i].usual) != 0) {
            const char *text = record_get_text(record, fields[i].field);
            fprintf(stream, "%s%s=%s", space, fields[i].field, text ? text : value);
            space = " ";
        }
        free(value);
    }
    if (stream && fclose(stream) != 0) {
        free(key);
        key = NULL;
    }
    return key;
}

void record_problem_name(const char *op, const char *problem, char *text, size_t size)
{
    const char *name = strstr(problem, "n\"");
    if (name && strlen(name) > 3)
        snprintf(text, size, "%.*s", (int)strlen(name + 2) - 1, name + 2);
    else
        snprintf(text, size, "%s %s", op, problem);
}
