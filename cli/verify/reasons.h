/* reasons.h: why cases are UNSUPPORTED, and how many of those that `supports` let through were not verified all
 * the same. Plain data: one process hands it on to the next. */
#ifndef CLI_VERIFY_REASONS_H
#define CLI_VERIFY_REASONS_H

#include "harness/device/impl.h"

#include <stdio.h>

enum { REASONS_MAX = 24, REASON_TEXT_MAX = 160 };
typedef struct verify_share { /* of what an implementation's `supports` let through */
    char impl[CNN_NAME_MAX];
    int64_t verified, left; /* left: refused by `prepare`, or no room for what it asks for */
} verify_share;

typedef struct verify_reasons {
    struct {
        char text[REASON_TEXT_MAX];
        int64_t count;
        bool differ; /* in numbers; the text is the first one's */
    } list[REASONS_MAX];
    int count;
    int64_t others; /* cases whose reasons found no room */
    verify_share shares[CNN_MAX_CHOICES];
    int n_shares;
} verify_reasons;

/* Reasons that differ in numbers alone are one, which is printed as an example. */
void verify_reasons_count(verify_reasons *reasons, const char *reason);
void verify_reasons_print(const verify_reasons *reasons); /* a line each, on standard output */
/* One case of `impl` that its `supports` let through: `verified`, or left out. */
void verify_reasons_share(verify_reasons *reasons, const char *impl, bool verified);
/* Says of which implementations more was left out than verified; whether there is one: that is no success. A few cases
 * are not enough to say so: some libraries find only when they plan that they cannot. */
bool verify_reasons_few(const verify_reasons *reasons, FILE *to);

#endif
