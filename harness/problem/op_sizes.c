/* op_sizes.c: what the operations share of checking sizes and of listing operands. */
#include "names.h"
#include "op.h"

#include <string.h>

cnn_status op_check_sizes(const op_size *sizes, int count, cnn_error *err)
{
    for (int i = 0; i < count; i++)
        if (sizes[i].value < sizes[i].least || sizes[i].value > INT32_MAX)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s is %lld, but must be from %lld to %d", sizes[i].name,
                            (long long)sizes[i].value, (long long)sizes[i].least, INT32_MAX);
    return CNN_OK;
}

cnn_status op_check_real(const char *name, double value, double below, cnn_error *err)
{
    if (value >= 0 && value < below) return CNN_OK; /* false for a NaN */
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s is %g, but must be at least 0 and below %g", name, value, below);
}

static void add(op_operands *list, const char *name, cnn_access access, cnn_elem elem, cnn_shape_kind shape,
                const int64_t dims[4])
{
    cnn_operand *operand = &list->items[list->count++];
    int64_t bytes = 0;
    if (cnn_is_joined(list->type.dtype) && cnn_elem_real(elem)) {
        if (cnn_part_of(name) == CNN_PART_RESULT) elem = CNN_ELEM_RESULT;
        if (cnn_part_of(name) == CNN_PART_BIAS) elem = CNN_ELEM_BIAS;
    }
    const size_t size = cnn_elem_size(&list->type, elem);
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

void op_flat(op_operands *list, const char *name, cnn_access access, cnn_elem elem, int64_t a, int64_t b, int64_t c,
             int64_t d)
{
    add(list, name, access, elem, CNN_SHAPE_FLAT, (const int64_t[4]){a, b, c, d});
}

void op_vector(op_operands *list, const char *name, cnn_access access, cnn_elem elem, int64_t count)
{
    add(list, name, access, elem, CNN_SHAPE_FLAT, (const int64_t[4]){count, 1, 1, 1});
}

void op_scale(op_operands *list, const cnn_quantization *quant, int64_t channels)
{
    if (cnn_is_quantized(list->type.dtype))
        op_vector(list, "scale", CNN_IN, CNN_ELEM_SCALE, quant->per_oc ? channels : 1);
}

bool op_is(const cnn_operand *operand, const char *name) { return strcmp(operand->name, name) == 0; }
