/* call.h: calling a slot of an implementation. One that fails without a word still gets a sentence: who, which slot,
 * which status. */
#ifndef HARNESS_CALL_H
#define HARNESS_CALL_H

#include "cnn.h"

/* CNN_CALL(impl, open, err, &params, &context, err) */
#define CNN_CALL(impl, slot, err, ...)                                                                                 \
    cnn_answer((impl)->name, #slot, (cnn_silence(err), (impl)->slot(__VA_ARGS__)), (err))

/* What an earlier call left is not taken for this one's text. */
static inline void cnn_silence(cnn_error *err) { err->message[0] = '\0'; }

/* names.c: passes the status on; err holds it, and a text. UNSUPPORTED and UNAVAILABLE from a slot that has nothing to
 * refuse, and INTERRUPTED from any, which the program alone can know, become CNN_INTERNAL, a failure. */
cnn_status cnn_answer(const char *impl, const char *slot, cnn_status status, cnn_error *err);

#endif
