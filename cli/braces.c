/* braces.c: one word for several descriptors: "mb{1,8}ic16ih{7,14}oc16kh3" is four, the last choice turning fastest. A
 * name in quotation marks is taken as it is. */
#include "cli.h"

#include <string.h>

enum { CHOICES_MAX = 8, WORDS_MAX = 4096 };

typedef struct choice {
    const char *open, *close; /* its braces */
    int count, now;
} choice;

static cnn_status find_choices(const char *text, choice *list, int *count, cnn_error *err)
{
    bool quoted = false;
    *count = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"') quoted = !quoted;
        if (quoted || *at != '{') continue;
        const char *close = strpbrk(at + 1, "{}");
        if (close == NULL || *close == '{') return CNN_FAIL(err, CNN_BAD_FORMAT, "'%.128s': a { without its }", text);
        if (*count == CHOICES_MAX)
            return CNN_FAIL(err, CNN_BAD_FORMAT, "'%.128s' has more than %d lists in braces", text, CHOICES_MAX);
        choice *c = &list[(*count)++];
        *c = (choice){at, close, 1, 0};
        for (const char *comma = at; comma < close; comma++) c->count += *comma == ',';
        at = close;
    }
    return CNN_OK;
}

/* Choice number `now` of "{a,b,c}". */
static const char *chosen(const choice *c, size_t *length)
{
    const char *at = c->open + 1;
    for (int i = 0; i < c->now; i++) at = strchr(at, ',') + 1;
    *length = strcspn(at, ",}");
    return at;
}

static cnn_status put_word(const char *text, const choice *list, int count, char *word, size_t size, cnn_error *err)
{
    size_t used = 0;
    for (int i = 0; i <= count; i++) {
        const char *from = i == 0 ? text : list[i - 1].close + 1;
        const size_t plain = i == count ? strlen(from) : (size_t)(list[i].open - from);
        size_t length = 0;
        const char *of_list = i == count ? "" : chosen(&list[i], &length);
        if (used + plain + length >= size)
            return CNN_FAIL(err, CNN_BAD_FORMAT, "'%.128s...' is longer than %zu characters", text, size - 1);
        memcpy(word + used, from, plain);
        memcpy(word + used + plain, of_list, length);
        used += plain + length;
    }
    word[used] = '\0';
    return CNN_OK;
}

/* The next combination; false: that was the last. */
static bool next(choice *list, int count)
{
    while (count-- > 0) {
        if (++list[count].now < list[count].count) return true;
        list[count].now = 0;
    }
    return false;
}

cnn_status cli_expand(const char *text, cli_word_fn *each, void *user, cnn_error *err)
{
    choice list[CHOICES_MAX];
    char word[2048];
    int count, words = 0;
    if (strchr(text, '{') == NULL) return each(user, text, err);
    cnn_status status = find_choices(text, list, &count, err);
    if (status != CNN_OK) return status;
    do {
        if (++words > WORDS_MAX)
            return CNN_FAIL(err, CNN_BAD_FORMAT, "'%.128s' is more than %d descriptors", text, WORDS_MAX);
        status = put_word(text, list, count, word, sizeof word, err);
        if (status == CNN_OK) status = each(user, word, err);
    } while (status == CNN_OK && next(list, count));
    return status;
}
