/* text_options.c: one loop for all that is written as NAME=VALUE. */
#include "names.h"
#include "op.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *text_real(double value, char text[TEXT_REAL_MAX])
{
    char shortest[TEXT_REAL_MAX];
    for (int digits = 15; digits <= 17; digits++) { /* 17 always do */
        snprintf(shortest, sizeof shortest, "%.*g", digits, value);
        if (strtod(shortest, NULL) == value) break;
    }
    return strcpy(text, shortest);
}

bool text_real_parse(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0';
}

static bool parse_whole(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0;
}

static cnn_status parse_option(const char *what, char *word, const text_option *options, int count, cnn_error *err)
{
    const char *names[TEXT_OPTIONS_MAX];
    for (int i = 0; i < count; i++) names[i] = options[i].name;
    const cnn_name_set set = {what, names, count};
    char *equals = strchr(word, '=');
    if (equals != NULL) *equals = '\0';
    const int index = cnn_name_find(&set, word, err);
    if (index < 0) return err->status;
    const text_option *o = &options[index];
    if (equals != NULL && (o->real != NULL ? text_real_parse(equals + 1, o->real) : parse_whole(equals + 1, o->whole)))
        return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s '%.64s%s%.64s' needs a %snumber: %s=NUMBER", what, word,
                    equals != NULL ? "=" : "", equals != NULL ? equals + 1 : "", o->real != NULL ? "" : "whole ",
                    o->name);
}

cnn_status text_options_parse(const char *what, char *text, const text_option *options, int count, cnn_error *err)
{
    cnn_status status = CNN_OK;
    while (text != NULL && status == CNN_OK) status = parse_option(what, strsep(&text, ","), options, count, err);
    return status;
}
