/* text.c: the one bounded way to add to a text. */
#include "text.h"

#include <string.h>

void cnn_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

void cnn_append_quoted(char *text, size_t size, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        cnn_append(text, size, "%s", word);
        return;
    }
    cnn_append(text, size, "'");
    for (const char *at = word; *at != '\0';) {
        const size_t length = strcspn(at, "'");
        cnn_append(text, size, "%.*s%s", (int)length, at, at[length] == '\'' ? "'\\''" : "");
        at += length + (at[length] == '\'');
    }
    cnn_append(text, size, "'");
}
