/* engine.h: what the checks share: cases (data and what must come out), guarded runs, comparisons. */
#ifndef VERIFY_ENGINE_H
#define VERIFY_ENGINE_H

#include "verify.h"
#include "verify/oracle/bounds.h"
#include "verify/oracle/reference.h"

#include <math.h>

/* ---- Cases: one problem and direction with its data and the expected results; independent of any algorithm. */

/* INTEGERS: small enough for exact sums, wide enough to be spoilt by fewer bits; of conv and FC times powers of two,
 * so that they look like reals. REALS: uniform, with extremes where
 * an operation has any. EXACT_REALS: the same, but intermediates of the forward pass (y, save_mean) not rounded.
 * DATA: as REALS, but nothing is expected: `after` is NULL. */
typedef enum vf_fill { VF_INTEGERS, VF_REALS, VF_EXACT_REALS, VF_DATA } vf_fill;

/* Variant 1 exists for some: conv and FC add to what is there (beta 1) and swap which factor is wide; an activation's
 * backward goes without x; an optimizer is in the midst of its way instead of at its start. */
int vf_variants(const cnn_problem *problem, cnn_dir dir);

typedef struct vf_case {
    vf_call call;                     /* operands; in and out point to the arrays below */
    double *before[CNN_MAX_OPERANDS]; /* rounded to the operand's type; NULL: an output that is replaced */
    double *after[CNN_MAX_OPERANDS], *magnitude[CNN_MAX_OPERANDS], *roundings[CNN_MAX_OPERANDS];
    cnn_problem problem; /* a copy; call.problem points to it */
    vf_fill fill;
    int variant;
    uint64_t seed;
    double unit[CNN_MAX_OPERANDS]; /* INTEGERS: what the values are multiples of: 1, but of conv and FC */
    bool without_x;                /* an activation's backward, as after a forward in place */
} vf_case;

cnn_status vf_case_make(vf_case *c, const cnn_problem *problem, cnn_dir dir, vf_fill fill, int variant, uint64_t seed,
                        thread_pool *pool, cnn_error *err);
void vf_case_free(vf_case *c);

/* fill.c: the values of an operand before the call: they depend on its name, the seed, fill and variant only, so that
 * forward and backward of a problem see the same x. `density` is the share of non-zeros of a factor. */
void vf_fill_values(const vf_case *c, const cnn_operand *operand, double density, double *values);
/* Whether products are made of it (conv, FC): x, w, dy. */
bool vf_is_factor(const cnn_operand *operand);
/* Turns a conv's or FC's integers into numbers that look like reals: each factor into (-1, 1) by a power of two that
 * the seed decides on, and all that is added to products by that of the products; so every sum stays as exact as it
 * was. Sets the units. */
void vf_scale_integers(vf_case *c);
/* How many products an element of the result is the sum of, at most (conv, FC, pooling; else 1). */
double vf_terms(const cnn_problem *problem, cnn_dir dir);
/* Largest sum of absolute values that is still exact in any order: 2^24 or 2^53. */
double vf_exact_limit(const cnn_problem *problem);
/* The share of non-zeros with which sums in this direction are likely to stay below the limit. */
double vf_exact_density(const cnn_problem *problem, cnn_dir dir);
/* Values as the operand's type holds them. */
void vf_round(const cnn_problem *problem, const cnn_operand *operand, double *values);

/* tensor.c: canonical doubles <-> the bytes an implementation sees (dtype, layout). */
void vf_pack(const cnn_problem *problem, const cnn_operand *operand, const double *values, void *bytes);
void vf_unpack(const cnn_problem *problem, const cnn_operand *operand, const void *bytes, double *values);
/* Where the element stands, and a single one: up to 8 bytes. */
int64_t vf_position(const cnn_problem *problem, const cnn_operand *operand, int64_t index);
void vf_pack_element(const cnn_problem *problem, const cnn_operand *operand, double value, void *bytes);
/* "y[n=0,c=1,h=2,w=3]" for element `index` in canonical order. */
void vf_element_name(const cnn_operand *operand, int64_t index, char *text, size_t size);

/* ---- Runs: the implementation on a case, in guarded buffers. */

/* late.c: which elements of an output on the host, uploaded as `before`, are as they were just after the call has
 * returned; and later the byte at which one of them has been written since, or -1, and how many more still are as they
 * were: added to *waiting. */
enum { VF_LATE_LOOKS = 64 };
typedef struct vf_late {
    bool left[VF_LATE_LOOKS];
} vf_late;
void vf_late_returned(vf_late *late, const cnn_operand *o, const void *before, const void *now);
int64_t vf_late_written(const vf_late *late, const cnn_operand *o, const void *before, const void *now, int *waiting);

/* guard.c: a device buffer between two guard bands that touch its first and its last byte. */
typedef struct vf_guarded {
    void *memory, *data; /* the allocation, the buffer in it (NULL for no bytes) */
    size_t bytes;
} vf_guarded;
cnn_status vf_guarded_alloc(vf_guarded *g, const cnn_session *session, size_t bytes, cnn_error *err);
/* Uploads `content` (bytes of it) and fresh guards. */
cnn_status vf_guarded_upload(const vf_guarded *g, const cnn_session *session, const void *content, cnn_error *err);
/* Downloads into `content`; *damage is 0, or the distance of the nearest overwritten guard byte: -1 the byte just
 * before the buffer, 1 the one just after it. */
cnn_status vf_guarded_download(const vf_guarded *g, const cnn_session *session, void *content, int64_t *damage,
                               cnn_error *err);
void vf_guarded_free(vf_guarded *g, const cnn_session *session);

/* Where runs take place: each buffer is made at the first of them that needs it, and stays at its address. So a kernel
 * that keeps something by address finds other data there. */
typedef struct vf_place {
    const cnn_session *session;
    const cnn_plan *plan;
    vf_guarded buffer[CNN_MAX_OPERANDS], workspace;
} vf_place;
/* Frees the buffers; the next run makes others. */
void vf_place_leave(vf_place *place);

typedef struct vf_run_options {
    int garbage;   /* which of the two patterns poisons outputs and workspace: 0 or 1 */
    bool in_place; /* y in x's buffer, dx in dy's; only where cnn.h allows it */
} vf_run_options;

typedef struct vf_run {
    double *after[CNN_MAX_OPERANDS]; /* outputs, canonical; NULL for inputs */
    void *bytes[CNN_MAX_OPERANDS];   /* outputs as they came */
    char fault[VERIFY_TEXT_MAX];     /* what was wrong with memory: "" nothing */
} vf_run;

cnn_status vf_run_make(vf_run *run, vf_place *place, const vf_case *c, const vf_run_options *options, cnn_error *err);
void vf_run_free(vf_run *run);
/* NULL, or the name of the first output whose bits differ; *index says where (canonical order is not kept: bytes). */
const char *vf_run_difference(const vf_case *c, const vf_run *a, const vf_run *b);

/* ---- Comparison. */

typedef struct vf_comparison {
    double budget_used;         /* largest |error| / bound; infinite for an error where none is allowed */
    double worst_bound;         /* of the worst element */
    bool failed;                /* some element is not finite or not within its bound */
    int64_t live, zeros, worst; /* elements that have something to compute; of these exactly 0; the worst element */
    bool uniform;               /* all live ones are equal */
    double sum_sq, sum_sqrt_n;  /* of error*sqrt(n)/magnitude; of sqrt(n), over elements with roundings */
    int64_t rounded;
    double least, most; /* of live expected values */
} vf_comparison;

/* What each element of an array may be off by; bounds NULL: nothing. */
typedef struct vf_allowance {
    const vf_rounding *bounds;
    const double *expected, *magnitude, *roundings;
    double most, top; /* the largest of each, where the bound is normwise */
} vf_allowance;
vf_allowance vf_allow(const vf_rounding *bounds, const double *expected, const double *magnitude,
                      const double *roundings, int64_t count);
double vf_allowed(const vf_allowance *allowance, int64_t index);
/* Positive form: both finite, and no further apart than allowed. */
bool vf_held(double expected, double got, double allowed);

/* Compares `count` elements; bounds NULL: they must be equal. Positive form: whatever is not provably right fails. */
vf_comparison vf_compare(const double *expected, const double *magnitude, const double *roundings, const double *got,
                         int64_t count, const vf_rounding *bounds);
/* Whether the bits are those of a finite number. */
bool vf_finite(double value);
/* Whether results prove anything: NULL, or why not. */
const char *vf_mistrust(const vf_comparison *c);

/* ---- Checks. */

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
    const cnn_algorithm *algorithm;
    vf_place *place;
    bool failed; /* a check before this one did */
} vf_subject;

/* A convolution or FC layer above options->reference_flops: huge.h judges it. */
bool vf_is_huge(const verify_options *options, const cnn_problem *problem);

/* The case, made at the first request and kept while the problem and direction stay the same. REALS of a problem that
 * is too large for the reference (huge.h) are DATA. */
cnn_status vf_case_get(const vf_subject *s, vf_fill fill, int variant, const vf_case **c, cnn_error *err);

/* CNN_OK, or CNN_INTERRUPTED when options->interrupted() says so. */
cnn_status vf_go_on(const verify_options *options, cnn_error *err);

/* Fills state, reason, worst ... of a result that starts as PASSED. A status other than CNN_OK counts as failure, but
 * for CNN_INTERRUPTED and for CNN_OUT_OF_MEMORY (the check's own memory: the check is skipped). */
typedef cnn_status vf_check_fn(const vf_subject *s, verify_result *result, cnn_error *err);
vf_check_fn vf_check_exact, vf_check_bound, vf_check_precision, vf_check_gradient, vf_check_adjoint, vf_check_memory,
    vf_check_determinism;

/* For printf, which shows some NaN as "-nan"; a NaN has no sign that would say anything. */
static inline double vf_shown(double value) { return isnan(value) ? (double)NAN : value; }

/* Sets state and reason. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void vf_set(verify_result *result, verify_state state, const char *format, ...);
/* Says in a result what its bounds are widened by, and for which transform. */
void vf_note_transform(const cnn_problem *problem, const cnn_algorithm *algorithm, verify_result *result);
/* Judges all outputs of a run against a case (bounds NULL: equality), into the result. Adds to `sums` (may be NULL) the
 * sums from which the precision is told. */
void vf_judge(const vf_case *c, const vf_run *run, const vf_rounding *bounds, verify_result *result,
              vf_comparison *sums);
/* Names the precision that these sums tell, and fails a conv or FC that is coarser than its type and math allow: the
 * bound of a long sum is loose, its mean square is not (vf_rms_limit). */
void vf_judge_precision(const cnn_problem *problem, const vf_rounding *bounds, const vf_comparison *sums,
                        verify_result *result);

#endif
