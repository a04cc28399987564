/* judge.h: every timed run is a run that counts.
 *
 * Before each run, timed or not, something changes that the kernel cannot foresee: its inputs (of a convolution or an
 * FC layer all elements of one, in seven runs of eight; else some), some of what stands in its outputs and in its
 * workspace. What is there otherwise is what the run before left: results that were right for other inputs. So a kernel
 * that keeps results, by pointer, shape or content, that leaves work out, or that relies on its workspace, computes
 * something else than what is asked.
 *
 * After a timed run its outputs are judged. Convolutions and FC layers: a random projection, the sum of all elements
 * times random factors, is held to what it must be, at the cost of one read. It is a sieve: where it is off, or at
 * random, all elements are held to their bounds, inputs are compared and guard bands looked at. Other operations, and
 * quantized results, which are no sums: all elements, at random runs. Judging may take as long as the runs themselves;
 * beyond that, runs are judged at random. */
#ifndef BENCH_MEASURE_JUDGE_H
#define BENCH_MEASURE_JUDGE_H

#include "judge_basis.h"
#include "verify/oracle/case.h"

typedef struct judge judge;

/* For runs on buffers of its own: guarded, filled with the case's inputs, outputs with plausible wrong values. The case
 * is copied; its problem and the plan must outlive the judge. basis: in and out: what judges of one case share, made by
 * the first, to be closed by the caller behind the last; NULL: it has its own. upload: what the filling cost; own_s:
 * the making of the basis. */
typedef struct judge_upload {
    double seconds, own_s;
    size_t bytes;
} judge_upload;
cnn_status judge_open(const cnn_session *session, const vf_case *c, const cnn_plan *plan, judge_basis **basis,
                      judge **result, judge_upload *upload, cnn_error *err);
void judge_close(judge *j); /* NULL is accepted */

/* Up to so many runs follow each other without a look at them: each gets operands of its own, with other numbers in
 * them (convolutions and FC; others: the same for all). Call it once, before such runs. */
cnn_status judge_windows(judge *j, int runs, cnn_error *err);
/* Those of the run that `back` others follow. */
void judge_operands(const judge *j, int back, void *pointers[CNN_MAX_OPERANDS]);
void *const *judge_buffers(const judge *j); /* those of the last one; in the order of the operands */
void *judge_workspace(const judge *j);

/* A number from 0 to below - 1, drawn from what the system seeded: no kernel knows it beforehand. */
int64_t judge_draw(judge *j, int64_t below);

/* False: what is judged also uploads the inputs and fetches the results that it is judged by (hands.h). */
bool judge_trusted(const judge *j);
const cnn_session *judge_hands(const judge *j);

/* Before `runs` runs. */
cnn_status judge_disturb(judge *j, int runs, cnn_error *err);
/* Just after a run has returned and was waited for, outside of what is timed. */
void judge_returned(judge *j);
/* Fetches an element of each output. */
cnn_status judge_peek(judge *j, cnn_error *err);
/* After a timed run that took `seconds` with all around it; the outputs are as it left them. */
cnn_status judge_run(judge *j, double seconds, cnn_error *err);
/* After the last one: all elements, and their precision. */
cnn_status judge_last(judge *j, cnn_error *err);

/* Spoils outputs and waits until no other thread is at work, some tenths of a millisecond or up to `most` seconds:
 * nobody may write them now. */
cnn_status judge_idle(judge *j, double most, cnn_error *err);
/* Before the last run: inputs and what is updated in place get the case's values again, outputs plausible wrong ones.
 */
cnn_status judge_calm(judge *j, cnn_error *err);

/* The gravest of all that was found: PASSED, or the figures are worth nothing. */
const verify_result *judge_verdict(const judge *j);
typedef struct judge_count {
    int64_t runs, projected, whole; /* timed runs; of these judged by projection; judged whole */
} judge_count;
judge_count judge_counts(const judge *j);

#endif
