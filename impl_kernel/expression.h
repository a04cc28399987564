/* expression.h: whole numbers computed from a problem's sizes: "cdiv(oh*ow, 256), oc, mb". + - * / % ( ), min(a,b),
 * max(a,b), and cdiv(a,b), also written ceil(a,b): a/b rounded up. 64 bits; / and % as in C. */
#ifndef IMPL_KERNEL_EXPRESSION_H
#define IMPL_KERNEL_EXPRESSION_H

#include "harness/cnn.h"

/* What names mean. */
typedef struct expr_scope {
    bool (*find)(void *user, const char *name, int64_t *value); /* false: there is no such name */
    void *user;
    bool dry;          /* grammar and names alone: no value is computed, so no division by zero is found */
    const char *known; /* the names there are, for errors */
} expr_scope;

/* One to `most` expressions, comma-separated; *count of them into values. `what` names the text in errors: "--grid".
 * CNN_BAD_ARGUMENT: it is no expression, or a name is unknown; CNN_OVERFLOW: more than 64 bits; CNN_UNSUPPORTED: a
 * division by zero. */
cnn_status expr_eval(const char *what, const char *text, const expr_scope *scope, int64_t *values, int most, int *count,
                     cnn_error *err);

#endif
