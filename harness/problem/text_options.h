/* text_options.h: "NAME=VALUE,NAME=VALUE", as in an optimizer's text or before a descriptor's colon; and reals as text
 * that reads back to the same bits. Internal to harness/. */
#ifndef HARNESS_PROBLEM_TEXT_OPTIONS_H
#define HARNESS_PROBLEM_TEXT_OPTIONS_H

#include "harness/cnn.h"

/* Where a value goes: `real` or `whole` is set. */
typedef struct text_option {
    const char *name;
    double *real;
    uint64_t *whole;
} text_option;

enum { TEXT_OPTIONS_MAX = 16, TEXT_REAL_MAX = 32 };

/* Cuts `text` at its commas; `what` ("optimizer option") is what errors call one. */
cnn_status text_options_parse(const char *what, char *text, const text_option *options, int count, cnn_error *err);

/* The shortest text that reads back to the same value. */
const char *text_real(double value, char text[TEXT_REAL_MAX]);
/* The whole text is a number. */
bool text_real_parse(const char *text, double *value);

#endif
