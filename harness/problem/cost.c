/* cost.c: the arithmetic and the memory traffic that a problem needs at least. */
#include "op.h"

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
