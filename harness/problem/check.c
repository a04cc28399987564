/* check.c: what makes a problem valid. Whoever makes a problem, from text or from a network, has it checked here. */
#include "op.h"

cnn_status op_check_sizes(const op_size *sizes, int count, cnn_error *err)
{
    for (int i = 0; i < count; i++)
        if (sizes[i].value < sizes[i].least || sizes[i].value > INT32_MAX)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s is %lld, but must be from %lld to %d", sizes[i].name,
                            (long long)sizes[i].value, (long long)sizes[i].least, INT32_MAX);
    return CNN_OK;
}

cnn_status op_check_plain(int64_t mb, int64_t ic, int64_t ih, int64_t iw, cnn_error *err)
{
    const op_size sizes[] = {{"mb", mb, 1}, {"ic", ic, 1}, {"ih", ih, 1}, {"iw", iw, 1}};
    return op_check_sizes(sizes, 4, err);
}

cnn_status op_check_real(const char *name, double value, double least, double below, cnn_error *err)
{
    if (value >= least && value < below) return CNN_OK; /* false for a NaN */
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s is %g, but must be at least %g and below %g", name, value, least, below);
}

cnn_status cnn_problem_check(const cnn_problem *problem, cnn_error *err)
{
    const op_row *row = op_row_of(problem->op);
    if (row == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no operation number %d", (int)problem->op);
    cnn_status status = row->check(problem, err);
    if (status != CNN_OK) return status;
    const uint32_t dirs = cnn_op_dirs(problem);
    for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
        cnn_operand operands[CNN_MAX_OPERANDS];
        if (dirs & 1u << dir && cnn_operands(problem, (cnn_dir)dir, operands, err) < 0) return err->status;
    }
    return CNN_OK;
}
