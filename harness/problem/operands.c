/* operands.c: what an operation reads and writes, with its shape, and how much of it at least; what that costs; and
 * what makes a problem valid: whoever makes one, from text or from a network, has it checked here. */
#include "harness/cnn/half.h"
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

cnn_status cnn_dir_check(const cnn_problem *problem, cnn_dir dir, cnn_error *err)
{
    if (cnn_op_dirs(problem) & 1u << dir) return CNN_OK;
    if (cnn_sums_whole(problem->u.type.dtype))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s in %s has no direction %s: integers have no gradients",
                        cnn_op_name(problem->op), cnn_dtype_name(problem->u.type.dtype), cnn_dir_name(dir));
    if (cnn_has_epilogue(problem))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s with an epilogue has no direction %s: epilogues are of FWD alone",
                        cnn_op_name(problem->op), cnn_dir_name(dir));
    return CNN_FAIL(err, CNN_UNSUPPORTED, "operation %s has no direction %s", cnn_op_name(problem->op),
                    cnn_dir_name(dir));
}

int cnn_operands(const cnn_problem *problem, cnn_dir dir, cnn_operand *items, cnn_error *err)
{
    op_operands list = {.items = items, .type = problem->u.type};
    if (cnn_dir_check(problem, dir, err) != CNN_OK) return -1;
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

/* Without a count of its own: so many simple operations for each element of the largest operand (exp, log, sqrt counted
 * as one). */
double cnn_flops(const cnn_problem *problem, cnn_dir dir)
{
    const op_row *row = op_row_of(problem->op);
    if (row->flops != NULL) return row->flops(problem, dir);
    cnn_operand operands[CNN_MAX_OPERANDS];
    cnn_error err;
    const int count = cnn_operands(problem, dir, operands, &err);
    int64_t largest = 0;
    for (int i = 0; i < count; i++)
        if (operands[i].count > largest) largest = operands[i].count;
    return (row->per_element != NULL ? row->per_element(problem, dir) : 1) * (double)largest;
}

double cnn_bytes(const cnn_problem *problem, cnn_dir dir)
{
    cnn_operand operands[CNN_MAX_OPERANDS];
    cnn_error err;
    const int count = cnn_operands(problem, dir, operands, &err);
    double bytes = 0;
    for (int i = 0; i < count; i++) {
        const cnn_operand *o = &operands[i];
        const double size = (double)o->bytes / (double)o->count * (o->access == CNN_INOUT ? 2 : 1);
        bytes += size * (double)cnn_operand_needed(problem, dir, o);
    }
    return bytes;
}

cnn_status cnn_problem_check(const cnn_problem *problem, cnn_error *err)
{
    const op_row *row = op_row_of(problem->op);
    if (row == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no operation number %d", (int)problem->op);
    const cnn_type *t = &problem->u.type;
    if (t->weights != cnn_weights_dtype(problem->op, t->dtype))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s with weights in %s beside activations in %s: they must be in %s",
                        cnn_op_name(problem->op), cnn_dtype_name(t->weights), cnn_dtype_name(t->dtype),
                        cnn_dtype_name(cnn_weights_dtype(problem->op, t->dtype)));
    cnn_status status = op_check(row, problem, err);
    if (status != CNN_OK) return status;
    const uint32_t dirs = cnn_op_dirs(problem);
    for (int dir = 0; dir < CNN_DIR_COUNT; dir++) {
        cnn_operand operands[CNN_MAX_OPERANDS];
        if (dirs & 1u << dir && cnn_operands(problem, (cnn_dir)dir, operands, err) < 0) return err->status;
    }
    return CNN_OK;
}

/* Zero points are numbers of their types. */
static cnn_status check_quantization(const cnn_problem *problem, cnn_error *err)
{
    const cnn_quantization quant = cnn_quantization_of(problem);
    const cnn_dtype dtype = problem->u.type.dtype;
    const struct {
        const char *letters, *name;
        int value;
        cnn_dtype of;
    } rows[] = {{"zx", "x", quant.zero_x, cnn_part_dtype(dtype, CNN_PART_FACTOR)},
                {"zy", "y", quant.zero_y, cnn_part_dtype(dtype, CNN_PART_RESULT)}};
    const bool any = quant.zero_x != 0 || quant.zero_y != 0 || quant.per_oc;
    if (any && !cnn_is_quantized(dtype))
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "zx%d zy%d soc%d in %s: zero points and scales are of types whose result has 8 bits, u8:s8:u8 "
                        "and its like",
                        quant.zero_x, quant.zero_y, quant.per_oc, cnn_dtype_name(dtype));
    for (int i = 0; any && i < 2; i++)
        if (rows[i].value < cnn_whole_least(rows[i].of) || rows[i].value > cnn_whole_most(rows[i].of))
            return CNN_FAIL(err, CNN_UNSUPPORTED, "%s%d in %s: %s holds %.0f to %.0f", rows[i].letters, rows[i].value,
                            cnn_dtype_name(dtype), rows[i].name, cnn_whole_least(rows[i].of),
                            cnn_whole_most(rows[i].of));
    return CNN_OK;
}

static cnn_status check_joined(const cnn_problem *problem, cnn_error *err)
{
    const cnn_type *t = &problem->u.type;
    if (t->math != CNN_MATH_F32)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "math %s of %s: its products are exact, and its sums are %s",
                        cnn_math_name(t->math), cnn_dtype_name(t->dtype),
                        cnn_dtype_name(cnn_part_dtype(t->dtype, CNN_PART_BIAS)));
    if (cnn_is_weighted(problem) && problem->op != CNN_OP_DECONV) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "%s in %s: factors and results of two types are for conv, conv3d and fc",
                    cnn_op_name(problem->op), cnn_dtype_name(t->dtype));
}

cnn_status cnn_half_check(const cnn_problem *problem, cnn_error *err)
{
    const cnn_type *t = &problem->u.type;
    if (check_quantization(problem, err) != CNN_OK) return err->status;
    if (cnn_has_epilogue(problem) && cnn_sums_whole(t->dtype)) {
        const cnn_epilogue e = cnn_epilogue_of(problem);
        if (op_check_whole_epilogue(&e, t->dtype, err) != CNN_OK) return err->status;
    }
    if (cnn_is_joined(t->dtype)) return check_joined(problem, err);
    if (!cnn_is_half(t->dtype)) return CNN_OK;
    if (t->math != CNN_MATH_F32 && t->math != (t->dtype == CNN_F16 ? CNN_MATH_F16 : CNN_MATH_BF16))
        return CNN_FAIL(
            err, CNN_UNSUPPORTED, "math %s of %s: its products and sums are f32, or %s where math %s allows it",
            cnn_math_name(t->math), cnn_dtype_name(t->dtype), cnn_dtype_name(t->dtype), cnn_dtype_name(t->dtype));
    if (problem->op == CNN_OP_DECONV && problem->u.conv.bias)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "a transposed convolution with bias in %s: the bias is added in a call of its own, which would "
                        "round the result twice",
                        cnn_dtype_name(t->dtype));
    return CNN_OK;
}
