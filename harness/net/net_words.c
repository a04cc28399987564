/* net_words.c: a network's text as lines of words, numbers and key=value options. */
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "net_parse.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

cnn_status net_fail(const net_line *line, cnn_error *err, const char *source, int source_line, const char *format, ...)
{
    char text[CNN_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (int i = 0; line->repeats != NULL && i < line->repeats->depth; i++) {
        const struct net_repeat *r = &line->repeats->open[i];
        cnn_append(text, sizeof text, "%spass %lld of %lld of line %d's repeat%s", i == 0 ? " (in " : ", ",
                   (long long)r->pass, (long long)r->passes, r->number, i == line->repeats->depth - 1 ? ")" : "");
    }
    return cnn_error_set(err, CNN_BAD_FORMAT, source, source_line, "%s:%d: %s", line->file, line->number, text);
}

cnn_status net_line_take(const char **text, const char *file, int number, net_line *line, cnn_error *err)
{
    const size_t length = strcspn(*text, "\n");
    const size_t used = strcspn(*text, "#\n"); /* without the comment */
    const char *start = *text;
    *text += length + ((*text)[length] == '\n');
    line->file = file;
    line->number = number;
    line->count = 0;
    if (used >= NET_LINE_MAX) return NET_FAIL(line, err, "longer than %d characters", NET_LINE_MAX - 1);
    memcpy(line->text, start, used);
    line->text[used] = '\0';
    for (char *p = line->text; *p != '\0';) {
        while (isspace((unsigned char)*p)) *p++ = '\0';
        if (*p == '\0') break;
        if (line->count == NET_MAX_WORDS) return NET_FAIL(line, err, "more than %d words", NET_MAX_WORDS);
        line->words[line->count++] = p;
        while (*p != '\0' && !isspace((unsigned char)*p)) p++;
    }
    for (int i = 0; i < line->count; i++)
        if (!cnn_is_visible(line->words[i]))
            return NET_FAIL(line, err, "'%.64s' holds a control character, or is no UTF-8", line->words[i]);
    return CNN_OK;
}

cnn_status net_word_int(const net_line *line, const char *what, const char *word, int64_t least, int64_t *value,
                        cnn_error *err)
{
    char *end;
    errno = 0;
    *value = strtoll(word, &end, 10);
    if (end == word || *end != '\0') return NET_FAIL(line, err, "expected an integer for %s, got '%.64s'", what, word);
    if (errno != 0 || *value < least || *value > INT32_MAX)
        return NET_FAIL(line, err, "%s is '%.64s', but must be from %lld to %d", what, word, (long long)least,
                        INT32_MAX);
    return CNN_OK;
}

cnn_status net_word_real(const net_line *line, const char *what, const char *word, double *value, cnn_error *err)
{
    char *end;
    *value = strtod(word, &end);
    bool good = end != word;
    if (good && *end == '/') { /* a fraction */
        const char *below = end + 1;
        *value /= strtod(below, &end);
        good = end != below;
    }
    if (!good || *end != '\0' || !isfinite(*value))
        return NET_FAIL(line, err, "expected a number for %s, got '%.64s'", what, word);
    return CNN_OK;
}

/* "3" stands for 3 x 3, "3x5" is height 3, width 5. */
static cnn_status word_pair(const net_line *line, const char *what, const char *word, int64_t least, int64_t pair[2],
                            cnn_error *err)
{
    char first[64];
    const char *cross = strchr(word, 'x');
    if (cross == NULL) {
        const cnn_status status = net_word_int(line, what, word, least, &pair[0], err);
        pair[1] = pair[0];
        return status;
    }
    snprintf(first, sizeof first, "%.*s", (int)(cross - word), word);
    const cnn_status status = net_word_int(line, what, first, least, &pair[0], err);
    return status == CNN_OK ? net_word_int(line, what, cross + 1, least, &pair[1], err) : status;
}

static cnn_status unknown_option(const net_line *line, const char *word, const char *key, const net_option *options,
                                 int count, cnn_error *err)
{
    const char *names[NET_MAX_WORDS];
    char list[256] = "";
    for (int i = 0; i < count; i++) {
        names[i] = options[i].key;
        cnn_append(list, sizeof list, "%s%s=", i > 0 ? ", " : "", names[i]);
    }
    const char *nearest = cnn_nearest_name(key, names, count);
    if (count == 0) return NET_FAIL(line, err, "%s takes nothing more, got '%.64s'", line->words[0], word);
    if (nearest != NULL)
        return NET_FAIL(line, err, "unknown option '%.64s' of %s: did you mean %s=?", word, line->words[0], nearest);
    return NET_FAIL(line, err, "unknown option '%.64s' of %s: expected %s", word, line->words[0], list);
}

cnn_status net_read_options(const net_line *line, int first, const net_option *options, int count, cnn_error *err)
{
    uint32_t said = 0; /* 1 << option: two values for one would leave one of them unheard */
    for (int i = first; i < line->count; i++) {
        const char *word = line->words[i], *value = strchr(word, '=');
        const net_option *found = NULL;
        char key[CNN_NAME_MAX];
        snprintf(key, sizeof key, "%.*s", value != NULL ? (int)(value - word) : (int)strlen(word), word);
        for (int k = 0; k < count; k++)
            if (strcmp(options[k].key, key) == 0) found = &options[k];
        if (found == NULL) return unknown_option(line, word, key, options, count, err);
        if (value == NULL) return NET_FAIL(line, err, "expected %s=VALUE, got '%.64s'", key, word);
        if (said & 1u << (found - options)) return NET_FAIL(line, err, "%s= is said twice: '%.64s'", key, word);
        said |= 1u << (found - options);
        value++;
        cnn_status status = CNN_OK;
        if (found->integer != NULL) status = net_word_int(line, key, value, found->least, found->integer, err);
        if (found->pair != NULL) status = word_pair(line, key, value, found->least, found->pair, err);
        if (found->real != NULL) status = net_word_real(line, key, value, found->real, err);
        if (status != CNN_OK) return status;
    }
    return CNN_OK;
}
