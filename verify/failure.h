/* failure.h: where a result is wrong: the first wrong elements, a picture of where they lie, a guess at the cause. */
#ifndef VERIFY_FAILURE_H
#define VERIFY_FAILURE_H

#include "engine.h"

/* Wrong elements of one output, collected one by one in canonical order. */
enum { VF_FIRST = 10, VF_BINS = 48, VF_RESIDUES = 64 };

typedef struct vf_axis {
    int64_t first, last;  /* the least and the largest index with an error */
    uint64_t residues;    /* bit r: some error at an index that is r modulo 64 */
    int64_t bin[VF_BINS]; /* errors by index, the axis cut into at most VF_BINS equal parts */
} vf_axis;

typedef struct vf_failure {
    const cnn_operand *operand;
    const char *whose; /* before its name: "", "the expected " */
    vf_wrong_element first[VF_FIRST];
    int64_t count, not_finite, zero,
        doubled;    /* wrong elements; of these: NaN or infinite, 0, twice what they should be */
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

#endif
