/* case.h: cases: one problem and direction with its data and what must come out; independent of any algorithm. */
#ifndef VERIFY_ORACLE_CASE_H
#define VERIFY_ORACLE_CASE_H

#include "harness/base/rng.h"
#include "reference.h"
#include "result.h"

/* INTEGERS: small enough for exact sums, wide enough to be spoilt by fewer bits; of conv and FC times powers of two,
 * so that they look like reals. REALS: uniform, with extremes where an operation has any; of conv and FC with some sums
 * that one product alone decides (lines.h). EXACT_REALS: the same, but intermediates of the forward pass (y, save_mean)
 * not rounded. DATA: as REALS, but nothing is expected: `after` is NULL. */
typedef enum vf_fill { VF_INTEGERS, VF_REALS, VF_EXACT_REALS, VF_DATA } vf_fill;

/* Variant 1 exists for some: conv and FC add to what is there (beta 1) and swap which factor is wide; quantized results
 * and those with an epilogue replace what is there, and have other data; an activation's
 * backward goes without x; an optimizer is in the midst of its way instead of at its start. Variant 2 of an optimizer
 * in 16 bits: that too, and a gradient is not finite, so the step is left out. */
int vf_variants(const cnn_problem *problem, cnn_dir dir);

typedef struct vf_case {
    vf_call call;                     /* operands; in and out point to the arrays below */
    double *before[CNN_MAX_OPERANDS]; /* rounded to the operand's type; NULL: an output that is replaced */
    double *after[CNN_MAX_OPERANDS], *magnitude[CNN_MAX_OPERANDS], *roundings[CNN_MAX_OPERANDS];
    unsigned char *kind[CNN_MAX_OPERANDS]; /* REALS of conv and FC: what each result is the sum of (lines.h) */
    cnn_problem problem;                   /* a copy; call.problem points to it */
    vf_fill fill;
    int variant;
    uint64_t seed;
    double unit[CNN_MAX_OPERANDS]; /* INTEGERS: what the values are multiples of: 1, but of conv and FC */
    bool without_x;                /* an activation's backward, as after a forward in place */
} vf_case;

cnn_status vf_case_make(vf_case *c, const cnn_problem *problem, cnn_dir dir, vf_fill fill, int variant, uint64_t seed,
                        thread_pool *pool, cnn_error *err);
void vf_case_free(vf_case *c);
/* The same data with beta 0, what it reads lent by a case that lives longer; what must come out is its own. */
cnn_status vf_case_lend(const vf_case *c, vf_case *lent, cnn_error *err);
void vf_case_return(vf_case *lent);

/* fill.c: the values of an operand before the call: they depend on its name, the seed, fill and variant only, so that
 * forward and backward of a problem see the same x. `density` is the share of non-zeros of a factor. */
void vf_fill_values(const vf_case *c, const cnn_operand *operand, double density, double *values);
/* fill_quantized.c: the same where results are quantized. */
void vf_fill_quantized(const vf_case *c, const cnn_operand *operand, double density, cnn_rng *rng, double *values);
/* Odd, in (2^(bits-1), 2^bits), of either sign; 1 bit: -1 or 1. And the bits that a wide factor has. */
double vf_odd_integer(cnn_rng *rng, int bits);
int vf_wide_bits(const cnn_problem *problem);
/* Whether the case has lines in which one product outweighs all others (lines.h): reals of a sum of products. */
bool vf_has_lines(const vf_case *c);
/* Whether products are made of it (conv, FC): x, w, dy. */
bool vf_is_factor(const cnn_operand *operand);
/* Turns a conv's or FC's integers into numbers that look like reals: each factor into (-1, 1) by a power of two that
 * the seed decides on, and all that is added to products by that of the products; so every sum stays as exact as it
 * was. Sets the units. */
void vf_scale_integers(vf_case *c);
/* How many products an element of the result is the sum of, at most (conv, FC, pooling; else 1). */
double vf_terms(const cnn_problem *problem, cnn_dir dir);
/* How many of them there really can be: few of a large kernel's taps lie within a small image (conv, FC, pooling). */
double vf_real_terms(const cnn_problem *problem, cnn_dir dir);
/* Largest sum of absolute values that is still exact in any order: 2^24 or 2^53; of integers 2^31. */
double vf_exact_limit(const cnn_problem *problem);
/* The share of non-zeros with which sums in this direction are likely to stay below the limit. */
double vf_exact_density(const cnn_problem *problem, cnn_dir dir);
/* Values as the operand's type holds them. */
void vf_round(thread_pool *pool, const cnn_problem *problem, const cnn_operand *operand, double *values);

/* tensor.c: canonical doubles <-> the bytes an implementation sees (dtype, layout). */
void vf_pack(const cnn_problem *problem, const cnn_operand *operand, const double *values, void *bytes);
void vf_unpack(const cnn_problem *problem, const cnn_operand *operand, const void *bytes, double *values);
/* The same on the threads of a pool. */
void vf_pack_by(thread_pool *pool, const cnn_problem *problem, const cnn_operand *operand, const double *values,
                void *bytes);
void vf_unpack_by(thread_pool *pool, const cnn_problem *problem, const cnn_operand *operand, const void *bytes,
                  double *values);
/* Where the element stands; a single one: up to 8 bytes, and the one that stands at `position`. */
int64_t vf_position(const cnn_problem *problem, const cnn_operand *operand, int64_t index);
void vf_pack_element(const cnn_problem *problem, const cnn_operand *operand, double value, void *bytes);
double vf_unpack_element(const cnn_problem *problem, const cnn_operand *operand, const void *bytes, int64_t position);
/* "y[n=0,c=1,h=2,w=3]" for element `index` in canonical order. */
void vf_element_name(const cnn_operand *operand, int64_t index, char *text, size_t size);

/* ---- What came out of a call. */

typedef struct vf_run {
    double *after[CNN_MAX_OPERANDS]; /* outputs, canonical; NULL for inputs */
    void *bytes[CNN_MAX_OPERANDS];   /* outputs as they came */
    char fault[VERIFY_TEXT_MAX];     /* what was wrong with memory: "" nothing */
} vf_run;
void vf_run_free(vf_run *run);

/* ---- retouch.c: one element of an input changes, and with it what must come out. A result of a convolution or an FC
 * layer is a sum of products, so each product that the element has a part in changes by so much, and nothing else does:
 * no reference need be computed anew. */
/* Told of each result that changed: output `operand`, its element `index` (canonical order), by how much. */
typedef void vf_changed(void *user, int operand, int64_t index, double difference);

/* Sets element `index` of input `operand` ("x", "w" or "dy", as the direction has them; no bias) to `value`, which must
 * be one that the operand's type holds; adjusts before, after and magnitude of the case. A case of a convolution or FC
 * with expected results (not VF_DATA). */
void vf_retouch(vf_case *c, int operand, int64_t index, double value, vf_changed *each, void *user);

/* A copy with arrays of its own; vf_case_free() frees it. CNN_OUT_OF_MEMORY. */
cnn_status vf_case_copy(const vf_case *from, vf_case *c, cnn_error *err);

/* What must come out of `before`, by the reference: for other operations, and where many changes have added up their
 * rounding. */
cnn_status vf_case_again(vf_case *c, int threads, cnn_error *err);

#endif
