/* identity.c: the fields that tell figures apart, once. */
#include "identity.h"

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

char *record_identity(const cnn_record *record, identity_scope scope)
{
    char *key = NULL;
    size_t size;
    const char *space = "";
    FILE *stream = open_memstream(&key, &size);
    for (size_t i = 0; stream && i < sizeof fields / sizeof *fields; i++) {
        if (!(fields[i].scopes & (int)scope)) continue;
        const char *text = record_get_text(record, fields[i].field);
        char *value = record_json(record, fields[i].field);
        if (value && strcmp(value, fields[i].usual) != 0) {
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
