/* text.h: text put together piece by piece, in a buffer of `size` bytes that holds a string already. What does not fit
 * is left out; the text always ends in a NUL. */
#ifndef HARNESS_BASE_TEXT_H
#define HARNESS_BASE_TEXT_H

#include "harness/cnn.h"

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void cnn_append(char *text, size_t size, const char *format, ...);

/* The error gets this status, and these words before its message, which is cut where it does not fit. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
cnn_status
cnn_error_before(cnn_error *err, cnn_status status, const char *format, ...);

/* Text from files, plug-ins and arguments may hold what a terminal acts on, or what looks like another line. One
 * character of it, as it may be shown: as it is, or each byte as \x1b where it is a control character, turns the
 * direction of the text around it, or is no UTF-8. Returns how many bytes of `text` it stands for. */
enum { CNN_SHOWN_MAX = 5 };
size_t cnn_show_character(const char *text, char shown[CNN_SHOWN_MAX]);
/* The same of a whole text, cut to what `room` holds; returns room. NULL is shown as "". `text` is read no further than
 * `room` goes. */
const char *cnn_visible(const char *text, char *room, size_t size);
/* Whether all of it may be shown as it is. */
bool cnn_is_visible(const char *text);

/* Adds `word` as a shell reads it back: as it is where nothing in it is special, else in single quotes, with '\'' for
 * each quote inside; with control characters as $'\033', which bash, zsh and ksh read. */
void cnn_append_quoted(char *text, size_t size, const char *word);

/* Texts that were said already, for those that are said once. */
typedef struct cnn_said {
    char **texts;
    int count, capacity;
} cnn_said;
/* Whether it was not said before, or memory is short; from here on it was. */
bool cnn_say_now(cnn_said *said, const char *text);
void cnn_said_free(cnn_said *said);

#endif
