/* unit.h: cmocka with what it needs before it, and a few words more. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" { /* cmocka's header does not say so itself */
#endif
#include <cmocka.h>
#ifdef __cplusplus
}
#endif

#include <stdlib.h>
#include <string.h>

/* What a sanitizer finds, it finds in fewer cases than it takes to know that results are right, and it makes each of
 * them three to ten times as slow: under it, tests that take long leave out what other cases of theirs show it as well.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
/* Of loops of the test's own, which work out what must come: the sanitizers are for what is tested. */
#define UNSANITIZED __attribute__((no_sanitize("address"), no_sanitize("undefined"), no_sanitize("thread")))
#else
enum { SANITIZED = 0 };
#define UNSANITIZED
#endif

/* With BENCHCNN_TEST_QUICK (`./test.sh quick`) a test of many cases that are like each other takes one in `of`. They
 * are spread like random numbers, so that no parity of a loop chooses. */
static inline int is_left_out_when_quick(size_t i, unsigned of)
{
    return getenv("BENCHCNN_TEST_QUICK") != NULL && ((uint32_t)i * 2654435761u >> 16) % of != 0;
}

/* A test is handed a state, and a table's function every argument; most need few of them. In C++ they stay unnamed. */
#ifndef __cplusplus
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

/* The message of an error must hold each of these words. */
#define assert_message(err, word)                                                                                      \
    do {                                                                                                               \
        if (strstr((err).message, (word)) == NULL) fail_msg("message '%s' lacks '%s'", (err).message, (word));         \
    } while (0)

#endif
