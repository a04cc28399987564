/* problem.c: text <-> problem for every operation, on top of the descriptor letters (dims.h). */
#include "problem.h"

#include "op.h"

#include <stdlib.h>
#include <string.h>

const op_row *op_row_of(cnn_op op)
{
    static const op_row *const rows[CNN_OP_COUNT] = {
#define OP(ID, name) [CNN_OP_##ID] = &op_##name,
#include "ops.inc"
#undef OP
    };
    return (unsigned)op < CNN_OP_COUNT ? rows[op] : NULL;
}

bool op_split_kind(const char *text, char *kind, size_t size, size_t *start)
{
    const char *colon = strchr(text, ':'), *quote = strchr(text, '"');
    /* A colon in a name is none. */
    if (colon == NULL || (quote != NULL && quote < colon) || (size_t)(colon - text) >= size) return false;
    snprintf(kind, size, "%.*s", (int)(colon - text), text);
    *start = (size_t)(colon - text) + 1;
    return true;
}

cnn_status op_needs_kind(const char *text, const char *example, cnn_error *err)
{
    return CNN_FAIL(err, CNN_BAD_FORMAT, "bad descriptor '%.200s': a kind and a colon are needed in front, as in '%s'",
                    text, example);
}

cnn_status op_parse_plain(const char *text, size_t start, const char *letters, desc_dims *d, cnn_error *err)
{
    cnn_status status = dims_parse(text, start, letters, d, err);
    return status == CNN_OK ? dims_deduce_plain(text, d, err) : status;
}

void cnn_problem_set_batch(cnn_problem *problem, int64_t mb)
{
    const size_t batch = op_row_of(problem->op)->batch;
    if (batch != 0) memcpy((char *)problem + batch, &mb, sizeof mb);
}

cnn_status cnn_problem_parse(cnn_op op, const char *text, const cnn_problem_defaults *defaults, cnn_problem *problem,
                             cnn_error *err)
{
    const op_row *row = op_row_of(op);
    desc_dims dims;
    memset(problem, 0, sizeof *problem);
    problem->op = op;
    if (row == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no operation number %d", (int)op);
    if (strlen(text) >= CNN_PROBLEM_TEXT_MAX)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "the descriptor '%.64s...' is longer than %d characters", text,
                        CNN_PROBLEM_TEXT_MAX - 1);
    cnn_status status = row->parse(text, defaults, problem, &dims, err);
    if (status != CNN_OK) return status;
    memcpy(problem->name, dims.name, sizeof problem->name);
    if (defaults->mb != 0) cnn_problem_set_batch(problem, defaults->mb);
    status = cnn_problem_check(problem, err);
    if (status == CNN_OK) return CNN_OK;
    const cnn_error why = *err;
    return CNN_FAIL(err, why.status, "bad descriptor '%.200s': %.250s", text, why.message);
}

/* ---- The canonical text, which parses back to the same problem. */

void op_put(op_writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->text + w->used, CNN_PROBLEM_TEXT_MAX - w->used, format, args);
    va_end(args);
    if (n > 0) w->used += (size_t)n;
    if (w->used >= CNN_PROBLEM_TEXT_MAX) w->used = CNN_PROBLEM_TEXT_MAX - 1;
}

void op_put_number(op_writer *w, const char *letters, int64_t value) { op_put(w, "%s%lld", letters, (long long)value); }

void op_put_plain(op_writer *w, int64_t mb, int64_t ic, int64_t ih, int64_t iw)
{
    if (mb > 0) op_put_number(w, "mb", mb);
    if (ic > 0) op_put_number(w, "ic", ic);
    if (ih != 1 || iw != 1) op_put_number(w, "ih", ih);
    if (iw != ih) op_put_number(w, "iw", iw);
}

void cnn_problem_format(const cnn_problem *p, char text[CNN_PROBLEM_TEXT_MAX])
{
    const op_row *row = op_row_of(p->op);
    op_writer w = {text, 0};
    text[0] = '\0';
    if (row != NULL) row->format(&w, p);
    if (p->name[0] != '\0') op_put(&w, "n\"%s\"", p->name);
}

cnn_problem cnn_problem_work(const cnn_problem *problem)
{
    cnn_problem work = *problem;
    memset(work.name, 0, sizeof work.name);
    if (work.op == CNN_OP_DROPOUT) work.u.dropout.seed = CNN_DROPOUT_SEED;
    return work;
}
