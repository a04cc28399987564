/* call.h: calling a slot of an implementation, and taking what it answers: nothing that it says is longer, more, or
 * something else than what the rest of the program relies on. One that fails without a word still gets a sentence: who,
 * which slot, which status. One that leaves the thread's arithmetic changed fails, too; the locale is put right in
 * silence. */
#ifndef HARNESS_DEVICE_CALL_H
#define HARNESS_DEVICE_CALL_H

#include "impl.h"

#include <string.h>

/* CNN_CALL(impl, open, err, &params, &context, err) */
#define CNN_CALL(impl, slot, err, ...)                                                                                 \
    cnn_answer((impl)->name, #slot, (cnn_silence(err), (impl)->slot(__VA_ARGS__)), (err))

/* What an implementation is asked for in place of a transposed convolution: the convolution that it is the other way
 * round, without bias. All else stays as it is. */
static inline void cnn_turn(cnn_problem *problem, cnn_dir *dir)
{
    if (problem->op != CNN_OP_DECONV) return;
    problem->op = CNN_OP_CONV;
    problem->u.conv.bias = false;
    if (*dir != CNN_BWD_W) *dir = *dir == CNN_FWD ? CNN_BWD_D : CNN_FWD;
}
/* The copy of a plan that it is handed. */
static inline void cnn_hand_plan(const cnn_plan *plan, cnn_plan *handed)
{
    memcpy(handed, plan, sizeof *handed); /* padding, too: copies are compared */
    cnn_turn(&handed->problem, &handed->dir);
}

/* A slot that answers nothing: what it leaves changed is put right. */
#define CNN_CALL_VOID(impl, slot, ...) ((impl)->slot(__VA_ARGS__), (void)cnn_thread_restore())

/* Whether it takes numbers of the problem's type at all: CNN_UNSUPPORTED, and which it takes. Only then `supports` is
 * asked. */
cnn_status cnn_takes_dtype(const cnn_impl *impl, const cnn_problem *problem, cnn_error *err);
/* CNN_UNSUPPORTED: the request's algorithm has not the flag CNN_ALGO_EPILOGUES, or CNN_ALGO_QUANTIZED_EPILOGUES, and
 * its problem has an epilogue. */
cnn_status cnn_takes_epilogue(const cnn_impl *impl, const cnn_request *request, cnn_error *err);

/* What an earlier call left is not taken for this one's text. */
static inline void cnn_silence(cnn_error *err) { err->message[0] = '\0'; }

/* answers.c: passes the status on; err holds it, and a text that ends and can be shown. A status that there is not, and
 * a text without an end, are CNN_INTERNAL, a failure; so are UNSUPPORTED and UNAVAILABLE from a slot that has nothing
 * to refuse, and INTERRUPTED from any, which the program alone can know. */
cnn_status cnn_answer(const char *impl, const char *slot, cnn_status status, cnn_error *err);
/* Whether it can run here: CNN_UNAVAILABLE, and why not. */
static inline cnn_status cnn_probe(const cnn_impl *impl, cnn_error *err)
{
    return impl->probe ? CNN_CALL(impl, probe, err, err) : CNN_OK;
}
/* What it tells of itself: keys and values that are there, cut to a fact's size, and can be shown. Of a plug-in first
 * what it cannot tell: */
void cnn_describe(const cnn_session *session, cnn_put_fn *put, void *user);
/* plugin_file.c: "plugin", and the checksum of its shared object, which another build of it does not have. */
void cnn_put_plugin(const cnn_impl *impl, cnn_put_fn *put, void *user);
/* memory.c: ends what capture->begin began, which has come to `so_far`: *graph, and that status or the end's own; NULL
 * where one of them is not CNN_OK. */
cnn_status cnn_capture_end(const cnn_session *session, cnn_status so_far, cnn_graph **graph, cnn_error *err);
/* A text that fills an array of `size` bytes: ended where it has no end, and made visible. */
void cnn_answer_text(char *text, size_t size);
/* A row that it made: a name that --impl and a record can hold, and a doc. */
cnn_status cnn_algorithm_check(const char *impl, const cnn_algorithm *algorithm, cnn_error *err);
/* NULL texts, and such as cannot be shown, are refused; what: "the doc of knob x". */
cnn_status cnn_doc_check(const char *impl, const char *what, const char *name, const char *doc, cnn_error *err);

#endif
