/* call.h: calling a slot of an implementation. One that fails without a word still gets a sentence: who, which slot,
 * which status. One that leaves the thread's arithmetic changed fails, too; the locale is put right in silence. */
#ifndef HARNESS_CALL_H
#define HARNESS_CALL_H

#include "cnn.h"
#include "thread_state.h"

/* CNN_CALL(impl, open, err, &params, &context, err) */
#define CNN_CALL(impl, slot, err, ...)                                                                                 \
    cnn_answer((impl)->name, #slot, (cnn_silence(err), (impl)->slot(__VA_ARGS__)), (err))

/* A slot that answers nothing: what it leaves changed is put right. */
#define CNN_CALL_VOID(impl, slot, ...) ((impl)->slot(__VA_ARGS__), (void)cnn_thread_restore())

/* What an earlier call left is not taken for this one's text. */
static inline void cnn_silence(cnn_error *err) { err->message[0] = '\0'; }

/* names.c: passes the status on; err holds it, and a text. */
cnn_status cnn_answer(const char *impl, const char *slot, cnn_status status, cnn_error *err);

#endif
