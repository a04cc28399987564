/* operands.c: what an operation reads and writes, with its shape, and how much of it at least. */
#include "names.h"
#include "op.h"

const op_row *op_row_of(cnn_op op)
{
    static const op_row *const rows[CNN_OP_COUNT] = {
#define ROW(id, name, dirs) &op_##name,
        CNN_OP_LIST(ROW)
#undef ROW
    };
    return (unsigned)op < CNN_OP_COUNT ? rows[op] : NULL;
}

int cnn_operands(const cnn_problem *problem, cnn_dir dir, cnn_operand *items, cnn_error *err)
{
    op_operands list = {.items = items, .type = problem->u.type};
    if (!(cnn_op_dirs(problem) & 1u << dir)) {
        CNN_FAIL(err, CNN_UNSUPPORTED, "operation %s has no direction %s", cnn_op_name(problem->op), cnn_dir_name(dir));
        return -1;
    }
    op_row_of(problem->op)->operands(&list, problem, dir);
    if (list.overflow != NULL) {
        const cnn_operand *o = list.overflow;
        CNN_FAIL(err, CNN_OVERFLOW, "%s of %lld x %lld x %lld x %lld has more bytes than a 64-bit size can hold",
                 o->name, (long long)o->dims[0], (long long)o->dims[1], (long long)o->dims[2], (long long)o->dims[3]);
        return -1;
    }
    return list.count;
}

int64_t cnn_operand_needed(const cnn_problem *problem, cnn_dir dir, const cnn_operand *operand)
{
    const op_row *row = op_row_of(problem->op);
    return row->needed != NULL ? row->needed(problem, dir, operand) : operand->count;
}
