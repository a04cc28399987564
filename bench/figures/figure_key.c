/* figure_key.c: the fields that tell figures apart, once. */
#include "figure_key.h"

#include <stdlib.h>
#include <string.h>

/* A record lacks the fields that are not of its kind. */
static const struct {
    const char *field;
    bool of_task;
} fields[] = {{"kind", false},    {"impl", false},  {"algorithm", false}, {"op", true},           {"problem", true},
              {"bias", true},     {"mode", true},   {"net", true},        {"net_crc", true},      {"data", true},
              {"dir", true},      {"dtype", true},  {"layout", true},     {"math", true},         {"batch", true},
              {"threads", false}, {"knobs", false}, {"cache", true},      {"optimizer", true},    {"seed", false},
              {"shift", true},    {"graph", false}, {"data_on", false},   {"train_images", true}, {"test_images", true},
              {"program", true}};
/* Values that go without saying: older records do not say them. */
static const struct {
    const char *field, *value;
} usual[] = {{"knobs", "{}"}, {"bias", "true"}, {"mode", "\"cross_correlation\""}, {"shift", "0"}};

static bool goes_without_saying(const char *field, const char *value)
{
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strcmp(field, usual[i].field) == 0 && strcmp(value, usual[i].value) == 0) return true;
    return false;
}

char *figure_key(const cnn_record *record, figure_scope scope)
{
    char *key = NULL;
    size_t size;
    bool any = false;
    FILE *stream = open_memstream(&key, &size);
    for (size_t i = 0; stream && i < sizeof fields / sizeof *fields; i++) {
        if (scope == FIGURE_TASK && !fields[i].of_task) continue;
        const char *field = fields[i].field, *text = record_get_text(record, field);
        char *value = record_json(record, field);
        if (value && !goes_without_saying(field, value)) {
            fprintf(stream, "%s%s=%s", any ? " " : "", field, text ? text : value);
            any = true;
        }
        free(value);
    }
    if (stream) fclose(stream);
    return key;
}

void figure_problem_name(const char *op, const char *problem, char *text, size_t size)
{
    const char *name = strstr(problem, "n\"");
    if (name && strlen(name) > 3)
        snprintf(text, size, "%.*s", (int)strlen(name + 2) - 1, name + 2);
    else
        snprintf(text, size, "%s %s", op, problem);
}
