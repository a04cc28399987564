/* epilogue.h: from sums to results that have an epilogue (cnn_epilogue): the residual is added, the activation taken.
 */
#ifndef VERIFY_ORACLE_EPILOGUE_H
#define VERIFY_ORACLE_EPILOGUE_H

#include "case.h"

/* The activation of a problem's epilogue, of one number; its ceiling is that of the type of y. */
cnn_act_desc vf_epilogue_act(const cnn_problem *problem);

/* What becomes of a sum that has the residual in it, of its magnitude and roundings. An activation passes an error on
 * as steeply as it is at most, and adds its own. */
void vf_epilogue_put(const cnn_act_desc *act, const vf_out *out, int64_t index);
/* All of y, which holds the sums. */
void vf_epilogue(const vf_call *call);

/* Whether integers come through it unrounded. */
bool vf_epilogue_is_exact(const cnn_problem *problem);

/* How a result is judged that was of this kind (lines.h) as a sum: where a ReLU cut it off, there is nothing left to
 * measure; where a function is curved, one large product is no longer the whole of it. */
unsigned char vf_epilogue_kind(const cnn_act_desc *act, double value, unsigned char kind);

/* A clipped ReLU's data: w, b and z by the power of two with which sums reach its ceiling, as often as not. */
void vf_reach_ceiling(vf_case *c);

#endif
