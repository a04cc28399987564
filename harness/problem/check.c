/* check.c: what makes a problem valid. Whoever makes a problem, from text or from a network, has it checked here. */
#include "op.h"

cnn_status cnn_problem_check(const cnn_problem *problem, cnn_error *err)
{
    const op_row *row = op_row_of(problem->op);
    if (row == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no operation number %d", (int)problem->op);
    const cnn_type *t = &problem->u.type;
    if (t->weights != t->dtype)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "weights in %s beside activations in %s: both must be of one dtype as yet",
                        cnn_dtype_name(t->weights), cnn_dtype_name(t->dtype));
    cnn_status status = op_check(row, problem, err);
    if (status != CNN_OK) return status;
    const uint32_t dirs = cnn_op_dirs(problem);
    for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
        cnn_operand operands[CNN_MAX_OPERANDS];
        if (dirs & 1u << dir && cnn_operands(problem, (cnn_dir)dir, operands, err) < 0) return err->status;
    }
    return CNN_OK;
}
