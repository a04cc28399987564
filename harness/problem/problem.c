/* problem.c: text <-> problem for every operation, on top of the descriptor letters (dims.h). */
#include "problem.h"

#include "op.h"

#include <string.h>

void cnn_problem_set_batch(cnn_problem *problem, int64_t mb)
{
    const size_t batch = op_row_of(problem->op)->at.mb;
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
    cnn_status status = op_parse(row, text, defaults, problem, &dims, err);
    if (status != CNN_OK) return status;
    memcpy(problem->name, dims.name, sizeof problem->name);
    if (defaults->mb != 0) cnn_problem_set_batch(problem, defaults->mb);
    status = cnn_problem_check(problem, err);
    return status == CNN_OK ? CNN_OK : cnn_error_before(err, status, "bad descriptor '%.200s': ", text);
}

/* ---- The canonical text, which parses back to the same problem. */

void cnn_problem_format(const cnn_problem *p, char text[CNN_PROBLEM_TEXT_MAX])
{
    const op_row *row = op_row_of(p->op);
    text[0] = '\0';
    if (row != NULL) op_format(row, text, p);
    if (p->name[0] != '\0') op_put(text, "n\"%s\"", p->name);
}

cnn_problem cnn_problem_work(const cnn_problem *problem)
{
    cnn_problem work = *problem;
    memset(work.name, 0, sizeof work.name);
    if (work.op == CNN_OP_DROPOUT) work.u.dropout.seed = CNN_DROPOUT_SEED;
    return work;
}
