/* images.c: --images of eval and predict. */
#include "parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static cnn_status bad_word(const char *word, cnn_error *err)
{
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--images: '%.64s' is neither an image's number nor FIRST..LAST", word);
}

/* Digits alone, all of them. */
static bool number(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

static cnn_status read_word(char *word, int64_t count, int64_t *first, int64_t *last, cnn_error *err)
{
    char whole[64], *dots = strstr(word, "..");
    snprintf(whole, sizeof whole, "%s", word);
    if (dots != NULL) *dots = '\0';
    if (!number(word, first) || !number(dots != NULL ? dots + 2 : word, last) || *first > *last)
        return bad_word(whole, err);
    if (*last < count) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--images: '%.64s' goes beyond the %lld test images, which count from 0",
                    whole, (long long)count);
}

static cnn_status add(int64_t **images, int64_t *n, int64_t first, int64_t last, cnn_error *err)
{
    const int64_t more = last - first + 1;
    int64_t *longer = *n + more < INT32_MAX ? realloc(*images, (size_t)(*n + more) * sizeof *longer) : NULL;
    if (longer == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "--images: no memory for %lld images more", (long long)more);
    *images = longer;
    for (int64_t i = first; i <= last; i++) longer[(*n)++] = i;
    return CNN_OK;
}

cnn_status eval_read_images(const char *text, int64_t count, int64_t **images, int64_t *n, cnn_error *err)
{
    char *copy = strdup(text), *rest = copy, *word;
    cnn_status status = copy != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "--images: no memory for its text");
    while (status == CNN_OK && (word = strsep(&rest, ",")) != NULL) {
        int64_t first, last;
        status = read_word(word, count, &first, &last, err);
        if (status == CNN_OK && count < INT64_MAX) status = add(images, n, first, last, err);
    }
    free(copy);
    return status;
}
