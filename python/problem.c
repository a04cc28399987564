/* problem.c: problems and their arrays. See api.h. */
#include "parts.h"

#include "harness/base/text.h"
#include "harness/problem/names.h"

#include <stdlib.h>
#include <string.h>

int api_version(void) { return API_VERSION; }

cnn_status api_read_op(const char *text, cnn_op *op, cnn_error *err)
{
    const int found = cnn_name_find(&cnn_op_names, text, err);
    if (found < 0) return err->status;
    *op = (cnn_op)found;
    return CNN_OK;
}

static cnn_status read_terms(const api_terms *t, cnn_op *op, cnn_dir *dir, cnn_type *type, cnn_error *err)
{
    if (api_read_op(t->op, op, err) != CNN_OK) return err->status;
    const int its_dir = cnn_name_find(&cnn_dir_names, t->dir, err);
    const int dtype = its_dir < 0 ? -1 : cnn_name_find(&cnn_dtype_names, t->dtype, err);
    const int layout = dtype < 0 ? -1 : cnn_name_find(&cnn_layout_names, t->layout, err);
    const int math = layout < 0 ? -1 : cnn_name_find(&cnn_math_names, t->math, err);
    if (math < 0) return err->status;
    *dir = (cnn_dir)its_dir;
    *type = (cnn_type){(cnn_dtype)dtype, (cnn_dtype)dtype, (cnn_layout)layout, (cnn_math)math};
    return CNN_OK;
}

cnn_status api_problem_new(const api_terms *terms, const char *text, api_problem **problem, cnn_error *err)
{
    cnn_problem_defaults defaults = {.no_bias = !terms->bias, .flip = terms->flip != 0};
    cnn_op op = CNN_OP_CONV;
    cnn_dir dir = CNN_FWD;
    *problem = NULL;
    cnn_status status = read_terms(terms, &op, &dir, &defaults.type, err);
    if (status != CNN_OK) return status;
    api_problem *p = calloc(1, sizeof *p);
    if (p == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a problem");
    p->dir = dir;
    status = cnn_problem_parse(op, text, &defaults, &p->problem, err);
    if (status == CNN_OK && (p->count = cnn_operands(&p->problem, dir, p->operands, err)) < 0) status = err->status;
    if (status != CNN_OK) {
        free(p);
        return status;
    }
    cnn_problem_format(&p->problem, p->text);
    *problem = p;
    return CNN_OK;
}

void api_problem_free(api_problem *problem) { free(problem); }

const char *api_problem_text(const api_problem *problem) { return problem->text; }

/* Shapes as .npy files have them: harness/data/operand_npy.c. */
void api_describe_array(const cnn_operand *o, const cnn_type *type, void *data, api_array *array)
{
    const bool weights = strcmp(o->name, "dw") == 0 || (strcmp(o->name, "w") == 0 && o->access == CNN_IN);
    static const int reals[CNN_NUMBER_COUNT] = {
        [CNN_F32] = 0, [CNN_F64] = 1, [CNN_S32] = 2, [CNN_F16] = 4, [CNN_BF16] = 5, [CNN_U8] = 6, [CNN_S8] = 7};
    *array = (api_array){.name = o->name,
                         .access = (int)o->access,
                         .type = o->elem == CNN_ELEM_I32   ? 2
                                 : o->elem == CNN_ELEM_I64 ? 3
                                 : cnn_elem_real(o->elem)  ? reals[cnn_elem_dtype(type, o->elem)]
                                                           : 1,
                         .tensor = o->shape == CNN_SHAPE_TENSOR,
                         .count = o->count,
                         .bytes = o->bytes,
                         .data = data};
    array->n_dims = cnn_operand_dims(o, array->dims);
    if (o->shape == CNN_SHAPE_FLAT && !weights)
        while (array->n_dims > 1 && array->dims[array->n_dims - 1] == 1) array->n_dims--;
}

int api_problem_arrays(const api_problem *p, api_array list[CNN_MAX_OPERANDS])
{
    for (int i = 0; i < p->count; i++) api_describe_array(&p->operands[i], &p->problem.u.type, NULL, &list[i]);
    return p->count;
}

void api_problem_fields(const api_problem *problem, char *text, size_t size)
{
    cnn_field fields[CNN_FIELDS_MAX];
    const int count = cnn_problem_fields(&problem->problem, problem->text, fields);
    text[0] = '\0';
    for (int i = 0; i < count; i++) cnn_append(text, size, "%s=%s ", fields[i].name, fields[i].value);
}

const char *api_default_problem(const char *op, int index)
{
    cnn_error err;
    cnn_op wanted = CNN_OP_CONV;
    if (api_read_op(op, &wanted, &err) != CNN_OK) return NULL;
    for (const verify_default *d = verify_defaults; d->text != NULL; d++)
        if (d->op == wanted && index-- == 0) return d->text;
    return NULL;
}
