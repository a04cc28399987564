/* result.h: what is said of a kernel: PASSED, FAILED ..., and why. */
#ifndef VERIFY_ORACLE_RESULT_H
#define VERIFY_ORACLE_RESULT_H

#include "harness/device/impl.h"

#include <math.h>

/* In the order of gravity, so that the state of several is the greatest of theirs. UNSUPPORTED: the implementation said
 * so. SKIPPED: the check cannot say anything here. MISTRUSTED: the check held, but on results too uniform to prove
 * anything. */
typedef enum verify_state {
    VERIFY_UNSUPPORTED,
    VERIFY_SKIPPED,
    VERIFY_PASSED,
    VERIFY_MISTRUSTED,
    VERIFY_FAILED
} verify_state;
const char *verify_state_name(verify_state state); /* "PASSED", ... */

enum { VERIFY_TEXT_MAX = 512, VERIFY_WHERE_MAX = 3072, VERIFY_TRANSFORM_MAX = 128 };

/* Whether results have the same bits: in repeated runs, for other numbers of threads (CPU), of an image alone as of the
 * same image in its batch (conv, fc), in two contexts that run at the same time. */
typedef enum verify_same {
    VERIFY_SAME_RUNS,
    VERIFY_SAME_THREADS,
    VERIFY_SAME_POSITION,
    VERIFY_SAME_CONTEXTS,
    VERIFY_SAME_COUNT
} verify_same;

/* What the determinism check found; all in it is 0 in the results of others. */
typedef struct verify_bits {
    char same[VERIFY_SAME_COUNT]; /* 'y' yes, 'n' no, 0 not asked or no such thing here */
    uint64_t digest; /* of the bits of the results: equal for algorithms that give the same bits; 0: none */
} verify_bits;

typedef struct verify_result {
    const cnn_session *session;
    const cnn_problem *problem; /* NULL for a whole network */
    const char *algorithm;
    cnn_dir dir;
    const char *check;  /* its name; "supports" where the problem was refused; verify_late_refusal or
                         * verify_no_room (verify.h) */
    const char *choice; /* what an algorithm that is a search settled on; NULL or "": it is none */
    verify_state state;
    double budget_used;       /* the largest error as a share of its bound; NaN where no bound was involved */
    char precision[16];       /* what the results are consistent with: "f64", "f32", "tf32", "bf16", "f16", "worse"; ""
                                 unknown */
    int bits_kept, bits_full; /* products that are alone in sums of up to `taps` terms keep so many bits, of so many */
    int64_t taps;             /* 0: not known */
    char worst[VERIFY_TEXT_MAX];  /* the element furthest out: where, expected, got, bound */
    char reason[VERIFY_TEXT_MAX]; /* one sentence for every state but PASSED; a remark, or "", for that */
    char where[VERIFY_WHERE_MAX]; /* of a failure: the first wrong elements and a picture, lines that end in '\n'; ""
                                     none */
    double amplification;         /* what widens the bound; 1: plain sums of products */
    char transform[VERIFY_TRANSFORM_MAX]; /* why, and how much: "Winograd F(4x4,3x3), bound x 96"; "" for 1 */
    verify_bits bits;
    const struct sum_findings *sums; /* what `sums` found (verify/summation/summation.h); NULL: nothing, or not asked */
} verify_result;

/* For printf, which shows some NaN as "-nan"; a NaN has no sign that would say anything. */
static inline double vf_shown(double value) { return isnan(value) ? (double)NAN : value; }

/* Sets state and reason; a graver state than this one stays (but SKIPPED replaces PASSED), and so does the first
 * reason.
 */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void vf_set(verify_result *result, verify_state state, const char *format, ...);

#endif
