/* pattern.h: what the problems that fail have, and those that pass have not: "fails where dw > 1". Plain data, as in
 * tally.h. */
#ifndef VERIFY_PATTERN_H
#define VERIFY_PATTERN_H

#include "verify.h"

enum { PATTERN_SIZES = 22, PATTERN_CASES = 400, PATTERNS_MAX = 64, PATTERN_NAME_MAX = 3 * CNN_NAME_MAX };

typedef struct verify_pattern { /* one algorithm's convolutions in one direction and type */
    char name[PATTERN_NAME_MAX];
    int count;
    struct {
        int64_t sizes[PATTERN_SIZES];
        bool failed;
    } cases[PATTERN_CASES];
} verify_pattern;

typedef struct verify_patterns {
    int count;
    verify_pattern list[PATTERNS_MAX];
} verify_patterns;

/* A case of `name`, convolutions and FC layers only; what finds no room is left out. */
void verify_pattern_add(verify_patterns *patterns, const char *name, const cnn_problem *problem, bool failed);
/* Adds the cases of another process. */
void verify_patterns_join(verify_patterns *to, const verify_patterns *from);
/* "fails where dw > 1; passes in the other 19 cases", of one that has both; "" where no one size tells them apart. */
void verify_pattern_text(const verify_pattern *pattern, char *text, size_t size);

#endif
