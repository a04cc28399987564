/* defaults.c: the built-in descriptors, from default_problems.inc. */
#include "verify.h"

typedef struct default_problem {
    cnn_op op;
    const char *text;
} default_problem;

static const default_problem problems[] = {
#define PROBLEM(op, text) {CNN_OP_##op, text},
#include "default_problems.inc"
#undef PROBLEM
};
enum { COUNT = sizeof problems / sizeof problems[0] };

int verify_default_count(cnn_op op)
{
    int count = 0;
    for (int i = 0; i < COUNT; i++) count += problems[i].op == op;
    return count;
}

const char *verify_default_text(cnn_op op, int index)
{
    for (int i = 0; i < COUNT; i++)
        if (problems[i].op == op && index-- == 0) return problems[i].text;
    return NULL;
}
