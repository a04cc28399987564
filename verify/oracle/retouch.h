/* retouch.h: one element of an input changes, and with it what must come out. A result of a convolution or an FC layer
 * is a sum of products, so each product that the element has a part in changes by so much, and nothing else does: no
 * reference need be computed anew. */
#ifndef VERIFY_ORACLE_RETOUCH_H
#define VERIFY_ORACLE_RETOUCH_H

#include "case.h"

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
