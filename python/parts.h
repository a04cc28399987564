/* parts.h: what the files of python/ share, beside what Python calls. */
#ifndef PYTHON_PARTS_H
#define PYTHON_PARTS_H

#include "api.h"

#include <locale.h>

struct api_engine {
    verify_engine *engine;
    char algorithm[CNN_NAME_MAX]; /* "": the first that serves */
    char **settings;              /* its own copies: sessions that are opened later read them */
    int n_settings;
    bool (*interrupted)(void);
    api_failed *failed; /* of the verification that goes on; NULL: none asks */
};

/* ---- engine.c */

/* The calling thread's locale, which the harness changes: to be given back. */
locale_t api_enter(void);
void api_leave(locale_t locale);
cnn_status api_pick(const api_engine *engine, const api_problem *problem, cnn_algorithm *algorithm, cnn_error *err);
void api_tell(const verify_result *result, api_each *each);

/* ---- verify.c: hands a failure's arrays to `user`, an api_failed *. */
verify_failed api_on_failed;

/* ---- callable.c, slots.c */

/* The pointers of a call, in the order of cnn_operands() of the problem that the callable sees. */
typedef struct api_pointers {
    void *list[CNN_MAX_OPERANDS];
    double beta, scale;
    void *workspace;
} api_pointers;

/* Fills in all operations: each slot hands its pointers to api_callable_run(). */
void api_fill_slots(cnn_operations *ops);
cnn_status api_callable_run(cnn_context *context, const cnn_plan *plan, const api_pointers *pointers, cnn_error *err);
/* A request as the callable sees it: of a transposed convolution the harness asks for the convolution. */
void api_turn_back(cnn_op op, cnn_problem *problem, cnn_dir *dir);
cnn_op api_callable_op(const cnn_context *context);

/* ---- problem.c */
void api_describe_array(const cnn_operand *operand, const cnn_type *type, void *data, api_array *array);
cnn_status api_read_op(const char *text, cnn_op *op, cnn_error *err);

#endif
