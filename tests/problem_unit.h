/* problem_unit.h: problems from their texts. */
#ifndef TESTS_PROBLEM_UNIT_H
#define TESTS_PROBLEM_UNIT_H

#include "harness/problem/problem.h"
#include "unit.h"

static inline cnn_problem problem_with(cnn_op op, const char *text, const cnn_problem_defaults *defaults)
{
    cnn_problem problem;
    cnn_error err = {.message = ""};
    if (cnn_problem_parse(op, text, defaults, &problem, &err) != CNN_OK) fail_msg("%s: %s", text, err.message);
    return problem;
}

static inline cnn_problem problem_of(cnn_op op, const char *text, cnn_dtype dtype, cnn_layout layout)
{
    return problem_with(op, text, &(cnn_problem_defaults){.type = {dtype, dtype, layout, CNN_MATH_F32}});
}

#endif
