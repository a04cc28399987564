/* text.h: text put together piece by piece, in a buffer of `size` bytes that holds a string already. What does not fit
 * is left out; the text always ends in a NUL. */
#ifndef HARNESS_TEXT_H
#define HARNESS_TEXT_H

#include "cnn.h"

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void cnn_append(char *text, size_t size, const char *format, ...);

/* Adds `word` as a shell reads it back: as it is where nothing in it is special, else in single quotes, with '\'' for
 * each quote inside. */
void cnn_append_quoted(char *text, size_t size, const char *word);

#endif
