/* compute.c: one run of an implementation on a user's arrays. See api.h. */
#include "parts.h"

#include "harness/problem/names.h"

#include <string.h>

static cnn_status read_values(const api_problem *p, const api_values *v, verify_arrays *a, cnn_error *err)
{
    a->close = v->close != 0;
    a->rtol = v->rtol;
    a->atol = v->atol;
    a->math_given = v->expect_math != NULL;
    if (a->math_given) {
        const int math = cnn_name_find(&cnn_math_names, v->expect_math, err);
        if (math < 0) return err->status;
        a->math = (cnn_math)math;
    }
    for (int i = 0; i < p->count; i++) {
        const cnn_operand *o = &p->operands[i];
        if ((o->access != CNN_OUT && v->in[i] == NULL) || (o->access != CNN_IN && v->out[i] == NULL))
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s is missing", o->name);
        a->in[i] = v->in[i];
        a->out[i] = v->out[i];
        a->expect[i] = v->expect[i];
        a->computed[i] = v->expect_f64[i] ? CNN_F64 : CNN_F32;
        if (v->in[i] != NULL && verify_array_values(&p->problem, o, v->in[i], o->name, err) != CNN_OK)
            return err->status;
    }
    return CNN_OK;
}

cnn_status api_compute(api_engine *engine, const api_problem *problem, const api_values *values, api_each *each,
                       cnn_error *err)
{
    const locale_t locale = api_enter();
    verify_arrays arrays = {.math = CNN_MATH_F32};
    verify_result result;
    cnn_algorithm algorithm;
    cnn_status status = read_values(problem, values, &arrays, err);
    if (status == CNN_OK) status = api_pick(engine, problem, &algorithm, err);
    if (status == CNN_OK)
        status = verify_run_arrays(engine->engine, &problem->problem, problem->dir, &algorithm, &arrays, &result, err);
    if (status == CNN_OK) api_tell(&result, each);
    api_leave(locale);
    return status;
}
