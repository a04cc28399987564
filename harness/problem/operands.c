/* operands.c: what an operation reads and writes, with its shape, and how much of it at least. */
#include "names.h"
#include "op.h"

#include <string.h>

static void add(op_operands *list, const char *name, cnn_access access, cnn_elem elem, cnn_shape_kind shape,
                const int64_t dims[4])
{
    cnn_operand *operand = &list->items[list->count++];
    size_t size = elem == CNN_ELEM_DTYPE ? cnn_dtype_size(list->dtype) : elem == CNN_ELEM_I32 ? 4 : 8;
    int64_t bytes = 0;
    *operand = (cnn_operand){.name = name, .access = access, .elem = elem, .shape = shape};
    for (int i = 0; i < 4; i++) operand->dims[i] = dims[i];
    if (!cnn_mul4(dims[0], dims[1], dims[2], dims[3], &operand->count) ||
        !cnn_mul(operand->count, (int64_t)size, &bytes))
        list->overflow = list->overflow != NULL ? list->overflow : operand;
    operand->bytes = (size_t)bytes;
}

void op_tensor(op_operands *list, const char *name, cnn_access access, int64_t n, int64_t c, int64_t h, int64_t w)
{
    add(list, name, access, CNN_ELEM_DTYPE, CNN_SHAPE_TENSOR, (const int64_t[4]){n, c, h, w});
}

void op_flat(op_operands *list, const char *name, cnn_access access, int64_t a, int64_t b, int64_t c, int64_t d)
{
    add(list, name, access, CNN_ELEM_DTYPE, CNN_SHAPE_FLAT, (const int64_t[4]){a, b, c, d});
}

void op_vector(op_operands *list, const char *name, cnn_access access, cnn_elem elem, int64_t count)
{
    add(list, name, access, elem, CNN_SHAPE_FLAT, (const int64_t[4]){count, 1, 1, 1});
}

bool op_is(const cnn_operand *operand, const char *name) { return strcmp(operand->name, name) == 0; }

uint32_t cnn_op_dirs(const cnn_problem *problem)
{
    const op_row *row = op_row_of(problem->op);
    if (row == NULL) return 0;
    return row->forward_only != NULL && row->forward_only(problem) ? OP_FWD : row->dirs;
}

int cnn_operands(const cnn_problem *problem, cnn_dir dir, cnn_operand *items, cnn_error *err)
{
    op_operands list = {.items = items, .dtype = problem->u.type.dtype};
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
