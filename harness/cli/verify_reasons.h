/* verify_reasons.h: why cases are UNSUPPORTED, counted. Plain data: one process hands it on to the next. */
#ifndef HARNESS_CLI_VERIFY_REASONS_H
#define HARNESS_CLI_VERIFY_REASONS_H

#include "../cnn.h"

enum { REASONS_MAX = 24, REASON_TEXT_MAX = 160 };
typedef struct verify_reasons {
    struct {
        char text[REASON_TEXT_MAX];
        int64_t count;
        bool differ; /* in numbers; the text is the first one's */
    } list[REASONS_MAX];
    int count;
    int64_t others; /* cases whose reasons found no room */
} verify_reasons;

/* Reasons that differ in numbers alone are one, which is printed as an example. */
void verify_reasons_count(verify_reasons *reasons, const char *reason);
void verify_reasons_print(const verify_reasons *reasons); /* a line each, on standard output */

#endif
