/* invalid_texts.h: descriptors that are meant to be wrong, and what the parser makes of them. */
#ifndef TESTS_VERIFY_INVALID_TEXTS_H
#define TESTS_VERIFY_INVALID_TEXTS_H

#include "verify/fuzz/fuzz.h"

typedef enum fuzz_verdict { FUZZ_REFUSED, FUZZ_ACCEPTED, FUZZ_WRONG } fuzz_verdict;

/* A text that is meant to be wrong: a valid one damaged, numbers out of range, garbage. */
void fuzz_invalid_text(uint64_t seed, int64_t index, cnn_op *op, char text[CNN_PROBLEM_TEXT_MAX]);
/* REFUSED: with a status of bad input and a sentence; ACCEPTED: it has a meaning after all, and says the same when
 * written out and read again. WRONG: anything else, and why. Reaches no implementation. */
fuzz_verdict fuzz_invalid_try(cnn_op op, const char *text, char why[VERIFY_TEXT_MAX]);

#endif
