/* defaults.c: the built-in descriptors, from default_problems.inc. */
#include "verify.h"

const verify_default verify_defaults[] = {
#define PROBLEM(op, text) {CNN_OP_##op, text},
#include "default_problems.inc"
#undef PROBLEM
    {CNN_OP_COUNT, NULL},
};
