/* precision.h: what the files of the precision check share. */
#ifndef VERIFY_PRECISION_H
#define VERIFY_PRECISION_H

#include "engine.h"

/* positive.c: FAILED where sums of positive numbers are cut, or have fewer bits than their type. Nothing for a
 * transform, for arithmetic below f32, and for more than 2^20 terms. */
cnn_status vf_judge_positive(const vf_subject *subject, verify_result *result, cnn_error *err);

#endif
