/* tensor.c: between canonical doubles and an implementation's bytes. The one place in verify/ that knows layouts. */
#include "case.h"

#include "harness/cnn/half.h"

#include <stdio.h>

static void store(const cnn_problem *problem, const cnn_operand *o, double value, void *bytes, int64_t at)
{
    switch (o->elem) {
    case CNN_ELEM_I32:
        ((int32_t *)bytes)[at] = (int32_t)value;
        break;
    case CNN_ELEM_I64:
        ((int64_t *)bytes)[at] = (int64_t)value;
        break;
    case CNN_ELEM_DOUBLE:
        ((double *)bytes)[at] = value;
        break;
    case CNN_ELEM_DTYPE:
    case CNN_ELEM_WEIGHT:
    case CNN_ELEM_RESULT:
    case CNN_ELEM_BIAS:
    case CNN_ELEM_SCALE:
        cnn_number_put(cnn_elem_dtype(&problem->u.type, o->elem), bytes, at, value);
    }
}

double vf_unpack_element(const cnn_problem *problem, const cnn_operand *o, const void *bytes, int64_t at)
{
    switch (o->elem) {
    case CNN_ELEM_I32:
        return ((const int32_t *)bytes)[at];
    case CNN_ELEM_I64:
        return (double)((const int64_t *)bytes)[at];
    case CNN_ELEM_DOUBLE:
        return ((const double *)bytes)[at];
    default:
        return cnn_number_get(cnn_elem_dtype(&problem->u.type, o->elem), bytes, at);
    }
}

/* Floats in canonical order: most of what is ever packed, so worth a loop of its own. */
static bool is_plain_f32(const cnn_problem *problem, const cnn_operand *o)
{
    const bool in_order = o->shape != CNN_SHAPE_TENSOR || problem->u.type.layout == CNN_NCHW;
    return in_order && cnn_elem_real(o->elem) && cnn_elem_dtype(&problem->u.type, o->elem) == CNN_F32;
}

void vf_pack(const cnn_problem *problem, const cnn_operand *o, const double *values, void *bytes)
{
    if (is_plain_f32(problem, o)) {
        for (int64_t e = 0; e < o->count; e++) ((float *)bytes)[e] = (float)values[e];
        return;
    }
    for (int64_t e = 0; e < o->count; e++) store(problem, o, values[e], bytes, vf_position(problem, o, e));
}

void vf_unpack(const cnn_problem *problem, const cnn_operand *o, const void *bytes, double *values)
{
    if (is_plain_f32(problem, o)) {
        for (int64_t e = 0; e < o->count; e++) values[e] = (double)((const float *)bytes)[e];
        return;
    }
    for (int64_t e = 0; e < o->count; e++) values[e] = vf_unpack_element(problem, o, bytes, vf_position(problem, o, e));
}

int64_t vf_position(const cnn_problem *problem, const cnn_operand *o, int64_t index)
{
    if (o->shape != CNN_SHAPE_TENSOR || problem->u.type.layout == CNN_NCHW) return index;
    const int64_t w = index % o->dims[3], h = index / o->dims[3] % o->dims[2];
    const int64_t c = index / (o->dims[3] * o->dims[2]) % o->dims[1],
                  n = index / (o->dims[3] * o->dims[2] * o->dims[1]);
    return cnn_offset(problem->u.type.layout, o->dims[1], o->dims[2], o->dims[3], n, c, h, w);
}

void vf_pack_element(const cnn_problem *problem, const cnn_operand *o, double value, void *bytes)
{
    store(problem, o, value, bytes, 0);
}

void vf_round(const cnn_problem *problem, const cnn_operand *o, double *values)
{
    const cnn_dtype dtype = cnn_elem_dtype(&problem->u.type, o->elem);
    if (!cnn_elem_real(o->elem) || dtype == CNN_F64) return;
    for (int64_t i = 0; i < o->count; i++) values[i] = cnn_stored(dtype, values[i]);
}

void vf_element_name(const cnn_operand *o, int64_t index, char *text, size_t size)
{
    int64_t w = index % o->dims[3], h = index / o->dims[3] % o->dims[2];
    int64_t c = index / (o->dims[3] * o->dims[2]) % o->dims[1], n = index / (o->dims[3] * o->dims[2] * o->dims[1]);
    const int64_t rows = o->depth > 0 ? o->dims[2] / o->depth : 1; /* of one depth */
    if (o->depth > 0)
        snprintf(text, size,
                 o->shape == CNN_SHAPE_TENSOR ? "%s[n=%lld,c=%lld,d=%lld,h=%lld,w=%lld]"
                                              : "%s[oc=%lld,ic=%lld,kd=%lld,kh=%lld,kw=%lld]",
                 o->name, (long long)n, (long long)c, (long long)(h / rows), (long long)(h % rows), (long long)w);
    else if (o->shape == CNN_SHAPE_TENSOR)
        snprintf(text, size, "%s[n=%lld,c=%lld,h=%lld,w=%lld]", o->name, (long long)n, (long long)c, (long long)h,
                 (long long)w);
    else if (o->dims[2] * o->dims[3] > 1)
        snprintf(text, size, "%s[oc=%lld,ic=%lld,kh=%lld,kw=%lld]", o->name, (long long)n, (long long)c, (long long)h,
                 (long long)w);
    else if (o->dims[1] > 1)
        snprintf(text, size, "%s[%lld,%lld]", o->name, (long long)n, (long long)c);
    else
        snprintf(text, size, "%s[%lld]", o->name, (long long)n);
}
