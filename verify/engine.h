/* engine.h: what the checks share: the engine that a case is checked with, the cases that it keeps. */
#ifndef VERIFY_ENGINE_H
#define VERIFY_ENGINE_H

#include "harness/cnn/half.h"
#include "verify.h"
#include "verify/oracle/case.h"
#include "verify/oracle/compare.h"
#include "verify/oracle/guard.h"
#include "verify/summation/summation.h"

/* ---- run.c: runs of an implementation on a case, in guarded buffers. */

/* Where runs take place: each buffer is made at the first of them that needs it, and stays at its address. So a kernel
 * that keeps something by address finds other data there. */
typedef struct vf_place {
    const cnn_session *session;
    const cnn_plan *plan;
    vf_guarded buffer[CNN_MAX_OPERANDS], workspace;
    vf_glimpse glimpse;
    thread_pool *pool; /* for what is done around a kernel; NULL: the caller's thread */
} vf_place;
/* Frees the buffers; the next run makes others. */
void vf_place_leave(vf_place *place);

/* Bytes: NaN in every format, or large finite numbers. */
extern const int vf_garbage[2];
typedef struct vf_run_options {
    int garbage;   /* which of the two patterns poisons outputs and workspace: 0 or 1 */
    bool in_place; /* y in x's buffer, dx in dy's; only where cnn.h allows it */
    vf_fence fence;
    const int *own; /* ids of threads that the check itself keeps busy meanwhile */
    int n_own;
} vf_run_options;

cnn_status vf_run_make(vf_run *run, vf_place *place, const vf_case *c, const vf_run_options *options, cnn_error *err);
/* NULL, or the name of the first output whose bits differ; *index says where (canonical order is not kept: bytes). */
const char *vf_run_difference(const vf_case *c, const vf_run *a, const vf_run *b);
/* For people: "17 of 400 elements, the first y[n=0,c=1,h=0,w=3]: 0.5, then 0.25", of the first output that differs. */
void vf_run_describe(const vf_case *c, const vf_run *a, const vf_run *b, char *text, size_t size);

/* around.c: the buffers of one run, while the kernel has them. */
typedef struct vf_around {
    bounds_list bounds;
    const char *names[CNN_MAX_OPERANDS + 1];
    bool on_host, pages; /* where they lie; whether pages are around them */
} vf_around;
void vf_around_add(vf_around *around, const char *name, const vf_guarded *buffer);
/* From here on nothing around them is to be touched; what is lies in run->fault at the end. */
cnn_status vf_around_begin(vf_around *around, const cnn_session *session, cnn_error *err);
cnn_status vf_around_end(vf_around *around, const cnn_session *session, vf_run *run, cnn_error *err);

/* ---- The checks. */

enum { VF_CACHE = 8 };

struct verify_engine {
    const cnn_impl *impl;
    cnn_session_params params;
    cnn_session session;
    verify_options options;
    thread_pool *pool;
    vf_case *cache[VF_CACHE]; /* cases of the problem and direction in hand */
    int cached;
};

typedef struct vf_subject {
    verify_engine *engine;
    const cnn_problem *problem;
    cnn_dir dir;
    const cnn_algorithm *algorithm; /* the plan's: what prepare made of it */
    vf_place *place;
    vf_rounding rounding; /* what is allowed */
    bool failed;          /* a check before this one did */
    const cnn_algorithm
        *offered; /* for plans of a check's own: prepare may choose anew, and promise less than before */
} vf_subject;

/* A result of a check by that name, PASSED so far; its bounds are not widened. */
verify_result vf_result(const vf_subject *s, const char *check);

/* A convolution or FC layer above options->reference_flops: huge.c judges it. */
bool vf_is_huge(const verify_options *options, const cnn_problem *problem);

/* The case, made at the first request and kept while the problem and direction stay the same. REALS of a problem that
 * is too large for the reference (huge.c) are DATA. */
cnn_status vf_case_get(const vf_subject *s, vf_fill fill, int variant, const vf_case **c, cnn_error *err);

void vf_forget_cases(verify_engine *engine);

/* CNN_OK, or CNN_INTERRUPTED when options->interrupted() says so. */
cnn_status vf_go_on(const verify_options *options, cnn_error *err);

/* One run of each variant of such a case, held to the bounds (NULL: equality); what is wrong is described. */
cnn_status vf_judge_runs(const vf_subject *s, vf_fill fill, const vf_rounding *bounds, verify_result *result,
                         cnn_error *err);

/* Fills state, reason, worst ... of a result that starts as PASSED. A status other than CNN_OK counts as failure, but
 * for CNN_INTERRUPTED and for CNN_OUT_OF_MEMORY (the check's own memory: the check is skipped). */
typedef cnn_status vf_check_fn(const vf_subject *s, verify_result *result, cnn_error *err);
#define CHECK(id, name, doc) vf_check_fn vf_check_##name;
#include "checks.inc"
#undef CHECK
vf_check_fn vf_huge_exact, vf_huge_bound; /* huge.c: exact and bound of problems that vf_is_huge() */

/* sums.c: how one result was added up. Into result->sums, which is `found` then. */
cnn_status vf_find_sums(const vf_subject *s, sum_findings *found, verify_result *result, cnn_error *err);

/* failure.c: where a result is wrong: the first wrong elements, a picture of where they lie, a guess at the cause. */
/* Wrong elements of one output, collected one by one in canonical order. */
enum { VF_FIRST = 10, VF_BINS = 48, VF_RESIDUES = 64 };

typedef struct vf_axis {
    int64_t first, last;  /* the least and the largest index with an error */
    uint64_t residues;    /* bit r: some error at an index that is r modulo 64 */
    int64_t bin[VF_BINS]; /* errors by index, the axis cut into at most VF_BINS equal parts */
} vf_axis;

typedef struct vf_failure {
    const cnn_operand *operand;
    const char *whose;    /* before its name: "", "the expected " */
    const double *before; /* what stood there, where results are added to it; NULL: they replace it */
    vf_wrong_element first[VF_FIRST];
    int64_t count, not_finite, zero,
        doubled;    /* wrong elements; of these: NaN or infinite, 0, what is to be put or added there twice */
    int64_t border; /* the largest distance of an error from the border of its plane */
    vf_axis axis[4];
    int64_t map[VF_BINS / 3][VF_BINS]; /* errors by the last two dimensions, each cut into equal parts */
} vf_failure;

void vf_failure_start(vf_failure *f, const cnn_operand *operand);
void vf_failure_add(vf_failure *f, const vf_wrong_element *element);
/* The text of VERIFY_WHERE_MAX bytes at most: lines that end in '\n'. And the guess alone. */
void vf_failure_text(const vf_failure *f, char text[VERIFY_WHERE_MAX]);
void vf_failure_guess(const vf_failure *f, char *text, size_t size);

/* Where output `operand` of a case is not within its bounds in `got`, into result->where. */
void vf_tell_output(const vf_case *c, int operand, const vf_rounding *bounds, const double *got, const char *whose,
                    verify_result *result);
/* Looks through all outputs of a run, describes the first wrong one in result->where and hands the arrays to
 * options->failed. Does nothing where the result did not fail or has been described. */
void vf_tell_failure(const vf_subject *s, const vf_case *c, const vf_run *run, const vf_rounding *bounds,
                     verify_result *result);

/* The variants that an algorithm is run on (case.h): variant 1 of a sum has beta 1, which some are not asked for; where
 * all replace, it is other data. */
static inline int vf_variants_of(const vf_subject *s)
{
    const bool replaces = cnn_is_weighted(s->problem) && s->algorithm->flags & CNN_ALGO_REPLACES &&
                          (cnn_is_half(s->problem->u.type.dtype) || cnn_sums_whole(s->problem->u.type.dtype)) &&
                          !cnn_always_replaces(s->problem);
    return replaces ? 1 : vf_variants(s->problem, s->dir);
}

/* The seed of the data that a kernel is first called with (verify.c), which no check has. */
static inline uint64_t vf_other_seed(const vf_subject *s) { return ~s->engine->options.seed; }
/* explain.c: adds to result->reason what would explain all that came of a convolution or FC layer, if anything does.
 * Only for the first check that fails, and only where the reference is cheap. */
void vf_explain(const vf_subject *s, const vf_case *c, const vf_run *run, verify_result *result);
/* explain_half.c: the same of what is wrong with f16 and bf16 alone. */
void vf_explain_half(const vf_subject *s, const vf_case *c, const vf_run *run, verify_result *result);
/* explain_whole.c: and of what is wrong with sums of integers. */
void vf_explain_whole(const vf_subject *s, const vf_case *c, const vf_run *run, verify_result *result);
/* explain_quantized.c: and of what becomes of such a sum where results are quantized. */
void vf_explain_quantized(const vf_subject *s, const vf_case *c, const vf_run *run, verify_result *result);

/* beta.c: where a case with beta 1 failed, and all before it held: says so in result->worst if it is beta's fault.
 * What is in the way of finding out is no error: the failure stands. */
typedef cnn_status vf_judge_fn(const vf_subject *s, const vf_case *c, const vf_run *run, const void *user,
                               verify_result *result, cnn_error *err);
void vf_tell_beta(const vf_subject *s, const vf_case *c, vf_judge_fn *judge, const void *user, verify_result *result);

#endif
