/* load.c: what the options of `benchcnn compute` name, and the arrays.
 *
 * The arrays say the dtype (all real ones the same, or those of a joined one), the names the bias: FWD has one with
 * --in b, BWD_W with db among the results; with --in scale the result is quantized, to the type that is expected, or to
 * that of x. Shapes are PyTorch's whatever --layout, which is what the implementation is
 * given. */
#include "harness/data/npy.h"
#include "harness/problem/names.h"
#include "parts.h"

#include <stdlib.h>

/* ---- What options say. */

/* Shapes do not depend on the dtype, which the arrays will tell: until then it is f32, or a quantized one. */
static cnn_status list_operands(compute_run *r, bool bias, cnn_error *err)
{
    const cli_options *o = r->options;
    const int layout = cnn_name_find(&cnn_layout_names, o->layout, err);
    const int math = layout < 0 ? -1 : cnn_name_find(&cnn_math_names, o->math, err);
    const int op = math < 0 ? -1 : o->op == NULL ? (int)CNN_OP_CONV : cnn_name_find(&cnn_op_names, o->op, err);
    if (op < 0) return err->status;
    if (o->problem.count != 1)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "compute needs one --problem, not %d", o->problem.count);
    const cnn_dtype dtype = array_files_have(&r->in, "scale") ? CNN_U8_S8_U8 : CNN_F32;
    const cnn_type type = {dtype, dtype, (cnn_layout)layout, (cnn_math)math};
    cnn_problem_defaults defaults = cli_problem_defaults(o, &type);
    defaults.no_bias = !bias;
    cnn_status status = cnn_problem_parse((cnn_op)op, o->problem.items[0], &defaults, &r->call.problem, err);
    if (status != CNN_OK) return status;
    r->call.count = cnn_operands(&r->call.problem, r->call.dir, r->call.operands, err);
    return r->call.count < 0 ? err->status : CNN_OK;
}

/* A bias is there where it is named. So names are looked up among all operands first, and an only output without a name
 * last. */
static cnn_status assign_files(compute_run *r, cnn_error *err)
{
    const bool bias =
        array_files_have(&r->in, "b") || array_files_have(&r->out, "db") || array_files_have(&r->expect, "db");
    const struct {
        const array_files *files;
        const char **path;
    } rows[] = {{&r->in, r->in_path}, {&r->out, r->out_path}, {&r->expect, r->expect_path}};
    cnn_status status = list_operands(r, true, err);
    for (int i = 0; status == CNN_OK && i < 3; i++)
        if (rows[i].files->count > 0 && rows[i].files->items[0].name != NULL)
            status = array_files_assign(rows[i].files, &r->call, rows[i].path, err);
    if (status == CNN_OK) status = list_operands(r, bias, err);
    for (int i = 0; status == CNN_OK && i < 3; i++)
        status = array_files_assign(rows[i].files, &r->call, rows[i].path, err);
    return status;
}

/* What the operation reads must all be there. */
static cnn_status check_complete(const compute_run *r, cnn_error *err)
{
    const array_call *c = &r->call;
    char text[256];
    array_call_text(c, text, sizeof text);
    for (int i = 0; i < c->count; i++)
        if (c->operands[i].access != CNN_OUT && r->in_path[i] == NULL)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--dir %s needs --in %s=FILE.npy: %s", cnn_dir_name(c->dir),
                            c->operands[i].name, text);
    if (r->out.count > 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "compute needs --out FILE.npy or NAME=FILE.npy: %s", text);
}

/* No output over an array that was given, nor over another output. */
static cnn_status keep_apart(const compute_run *r, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < r->call.count; i++)
        for (int k = 0; r->out_path[i] != NULL && status == CNN_OK && k < r->call.count; k++) {
            char option[CNN_NAME_MAX];
            snprintf(option, sizeof option, "--in %s", r->call.operands[k].name);
            status = cli_keep_apart(r->out_path[i], option, r->in_path[k], err);
            if (status == CNN_OK) status = cli_keep_apart(r->out_path[i], "--expect", r->expect_path[k], err);
            if (status == CNN_OK && k != i) status = cli_keep_apart(r->out_path[i], "--out", r->out_path[k], err);
        }
    return status;
}

cnn_status compute_read_options(compute_run *r, cnn_error *err)
{
    const cli_options *o = r->options;
    r->in.option = "in";
    r->out.option = "out";
    r->expect.option = "expect";
    if (o->dir == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "compute needs --dir: FWD, BWD_D or BWD_W");
    const int dir = cnn_name_find(&cnn_dir_names, o->dir, err);
    const int math = dir < 0                  ? -1
                     : o->expect_math == NULL ? (int)CNN_MATH_F32
                                              : cnn_name_find(&cnn_math_names, o->expect_math, err);
    if (math < 0) return err->status;
    r->call.dir = (cnn_dir)dir;
    r->arrays.math = (cnn_math)math;
    r->arrays.math_given = o->expect_math != NULL;
    r->arrays.close = cli_given(o, "rtol") || cli_given(o, "atol");
    r->arrays.rtol = o->rtol;
    r->arrays.atol = o->atol;
    cnn_status status = array_files_add(&r->out, o->out, err);
    if (status == CNN_OK) status = array_files_add(&r->expect, o->expect, err);
    for (int i = 0; status == CNN_OK && i < o->in.count; i++) status = array_files_add(&r->in, o->in.items[i], err);
    if (status == CNN_OK) status = assign_files(r, err);
    if (status == CNN_OK) status = check_complete(r, err);
    return status == CNN_OK ? keep_apart(r, err) : status;
}

/* ---- Arrays. */

static bool is_given(const compute_run *r, int i)
{
    return r->in_path[i] != NULL && cnn_elem_real(r->call.operands[i].elem);
}

/* Of a quantized result the type that is expected decides, too. */
static bool is_expected(const compute_run *r, int i, cnn_dtype result)
{
    return r->expect_path[i] == NULL || !cnn_is_quantized(r->call.problem.u.type.dtype) ||
           r->arrays.computed[i] == result;
}

/* The first type in which all arrays that are given are as they stand. */
static bool find_type(const compute_run *r, const cnn_dtype *numbers, cnn_dtype *found)
{
    for (int d = 0; d < CNN_DTYPE_COUNT; d++) {
        bool all = !cnn_is_joined((cnn_dtype)d) || cnn_is_weighted(&r->call.problem);
        all = all && cnn_is_quantized((cnn_dtype)d) == cnn_is_quantized(r->call.problem.u.type.dtype);
        for (int i = 0; all && i < r->call.count; i++) {
            const cnn_dtype part = cnn_part_dtype((cnn_dtype)d, cnn_part_of(r->call.operands[i].name));
            all = (!is_given(r, i) || numbers[i] == part) && is_expected(r, i, part);
        }
        if (all) return *found = (cnn_dtype)d, true;
    }
    return false;
}

static cnn_status no_type(const compute_run *r, const cnn_dtype *numbers, cnn_error *err)
{
    int first = -1, other = -1;
    for (int i = 0; i < r->call.count; i++) {
        if (!is_given(r, i)) continue;
        if (first < 0) first = i;
        if (other < 0 && numbers[i] != numbers[first]) other = i;
    }
    if (other < 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s is %s, but %s holds real numbers: save a.astype('<f4')",
                        r->in_path[first], cnn_dtype_name(numbers[first]), r->call.operands[first].name);
    return CNN_FAIL(
        err, CNN_BAD_ARGUMENT,
        "%s is %s, but %s is %s: all arrays must have one type, or those of u8:s8:s32, s8:s8:s32 or "
        "f16:f16:f32 (the factors, and the bias); with a scale of f32, those of u8:s8:u8, u8:s8:s8, s8:s8:s8 or "
        "s8:s8:u8",
        r->in_path[other], cnn_dtype_name(numbers[other]), r->in_path[first], cnn_dtype_name(numbers[first]));
}

/* In the type that the arrays say, operands have other sizes. */
static cnn_status take_type(compute_run *r, const cnn_dtype *numbers, cnn_error *err)
{
    cnn_type *type = &r->call.problem.u.type;
    if (!find_type(r, numbers, &type->dtype)) return no_type(r, numbers, err);
    *type = cnn_type_for(r->call.problem.op, *type);
    const cnn_status status = cnn_problem_check(&r->call.problem, err);
    if (status != CNN_OK) return status;
    r->call.count = cnn_operands(&r->call.problem, r->call.dir, r->call.operands, err);
    return r->call.count < 0 ? err->status : CNN_OK;
}

static cnn_status load_input(compute_run *r, int i, cnn_dtype *number, cnn_error *err)
{
    const cnn_operand *o = &r->call.operands[i];
    cnn_status status = npy_load_operand(r->in_path[i], o, &r->values[i], number, err);
    if (status == CNN_OK) status = verify_array_values(&r->call.problem, o, r->values[i], r->in_path[i], err);
    r->arrays.in[i] = r->values[i];
    return status;
}

/* What is updated is both: its values are read before the run, and written behind it. */
cnn_status compute_load(compute_run *r, cnn_error *err)
{
    cnn_dtype numbers[CNN_MAX_OPERANDS] = {CNN_F32};
    cnn_status status = compute_read_options(r, err);
    for (int i = 0; status == CNN_OK && i < r->call.count; i++) {
        const cnn_operand *o = &r->call.operands[i];
        if (o->access != CNN_OUT)
            status = load_input(r, i, &numbers[i], err);
        else if ((r->values[i] = malloc((size_t)o->count * sizeof(double))) == NULL)
            status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %s", o->name);
        if (o->access != CNN_IN) r->arrays.out[i] = r->values[i];
        if (status == CNN_OK && r->expect_path[i] != NULL)
            status = npy_load_operand(r->expect_path[i], o, &r->arrays.expect[i], &r->arrays.computed[i], err);
    }
    return status == CNN_OK ? take_type(r, numbers, err) : status;
}
