/* text.c: the one bounded way to add to a text, and the one way to show text of others. */
#include "text.h"

#include "grow.h"

#include <string.h>

void cnn_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

cnn_status cnn_error_before(cnn_error *err, cnn_status status, const char *format, ...)
{
    const cnn_error why = *err;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    cnn_append(err->message, sizeof err->message, "%s", why.message);
    return err->status = status;
}

/* Length of the well-formed UTF-8 sequence at s, 0 if there is none: overlong forms and surrogates are none. */
static size_t utf8_length(const unsigned char *s, unsigned *code)
{
    static const unsigned lowest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = s[0] < 0x80             ? 1
                          : (s[0] & 0xE0) == 0xC0 ? 2
                          : (s[0] & 0xF0) == 0xE0 ? 3
                          : (s[0] & 0xF8) == 0xF0 ? 4
                                                  : 0;
    *code = s[0];
    if (length <= 1) return length;
    *code = s[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        *code = *code << 6 | (s[i] & 0x3Fu);
    }
    const bool surrogate = *code >= 0xD800 && *code <= 0xDFFF;
    return *code < lowest[length] || *code > 0x10FFFF || surrogate ? 0 : length;
}

/* What terminals obey: C0, DEL, C1; and what makes text seem to stand elsewhere than it does. */
static bool acts(unsigned code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
           (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

size_t cnn_show_character(const char *text, char shown[CNN_SHOWN_MAX])
{
    unsigned code;
    const size_t length = utf8_length((const unsigned char *)text, &code);
    if (length == 0 || acts(code)) {
        snprintf(shown, CNN_SHOWN_MAX, "\\x%02x", (unsigned char)text[0]);
        return 1; /* the bytes behind the first are no UTF-8 by themselves, and shown so, too */
    }
    memcpy(shown, text, length);
    shown[length] = '\0';
    return length;
}

const char *cnn_visible(const char *text, char *room, size_t size)
{
    size_t used = 0;
    for (const char *at = text; at != NULL && *at != '\0';) {
        char shown[CNN_SHOWN_MAX];
        at += cnn_show_character(at, shown);
        const size_t length = strlen(shown);
        if (used + length >= size) break;
        memcpy(room + used, shown, length);
        used += length;
    }
    room[used] = '\0';
    return room;
}

bool cnn_is_visible(const char *text)
{
    unsigned code;
    for (size_t length; *text != '\0'; text += length) {
        length = utf8_length((const unsigned char *)text, &code);
        if (length == 0 || acts(code)) return false;
    }
    return true;
}

/* $'...': bytes, so that text in any encoding comes back. */
static void append_escaped(char *text, size_t size, const char *word)
{
    cnn_append(text, size, "$'");
    for (const unsigned char *at = (const unsigned char *)word; *at != '\0'; at++) {
        const bool plain = *at >= 0x20 && *at < 0x7F && *at != '\'' && *at != '\\';
        cnn_append(text, size, plain ? "%c" : "\\%03o", *at); /* octal: ends by itself, whatever follows */
    }
    cnn_append(text, size, "'");
}

void cnn_append_quoted(char *text, size_t size, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        cnn_append(text, size, "%s", word);
        return;
    }
    if (!cnn_is_visible(word)) {
        append_escaped(text, size, word);
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

bool cnn_say_now(cnn_said *said, const char *text)
{
    cnn_error ignored;
    for (int i = 0; i < said->count; i++)
        if (strcmp(said->texts[i], text) == 0) return false;
    char **added = cnn_add_item(&said->texts, &said->count, &said->capacity, sizeof *added, "texts", &ignored);
    if (added != NULL && (*added = strdup(text)) == NULL) said->count--;
    return true;
}

void cnn_said_free(cnn_said *said)
{
    for (int i = 0; i < said->count; i++) free(said->texts[i]);
    free(said->texts);
    *said = (cnn_said){.count = 0};
}
