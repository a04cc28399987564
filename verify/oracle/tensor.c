/* tensor.c: between canonical doubles and an implementation's bytes. The one place in verify/ that knows layouts. */
#include "case.h"

#include "harness/cnn/half.h"
#include "pieces.h"

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

typedef struct copying {
    const cnn_problem *problem;
    const cnn_operand *o;
    bool plain;
    const double *from; /* packing */
    double *to;         /* unpacking */
    void *packed;
    const void *bytes;
} copying;

/* Where an element stands, and then the next one in canonical order: without a division for each. */
typedef struct stand {
    int64_t at;
    int64_t left[3], size[3]; /* of the axes w, h, c: elements until it begins anew, and in all */
    int64_t wrap[3];          /* what beginning anew adds */
    int64_t step;
} stand;

static stand stand_of(const cnn_problem *problem, const cnn_operand *o, int64_t index)
{
    const int64_t c = o->dims[1], h = o->dims[2], w = o->dims[3];
    stand s = {vf_position(problem, o, index), {INT64_MAX, 1, 1}, {w, h, c}, {0}, 1};
    if (o->shape != CNN_SHAPE_TENSOR || problem->u.type.layout == CNN_NCHW) return s;
    s.step = c;
    s.wrap[1] = 1 - h * w * c; /* the next channel of the same image */
    s.wrap[2] = h * w * c - c; /* the next image */
    for (int i = 0; i < 3; i++) {
        s.left[i] = s.size[i] - index % s.size[i];
        index /= s.size[i];
    }
    return s;
}

static inline void step_on(stand *s)
{
    s->at += s->step;
    for (int i = 0; i < 3 && --s->left[i] == 0; i++) {
        s->left[i] = s->size[i];
        s->at += s->wrap[i];
    }
}

static void pack_piece(void *user, int64_t first, int64_t last)
{
    const copying *c = user;
    if (c->plain) {
        for (int64_t e = first; e < last; e++) ((float *)c->packed)[e] = (float)c->from[e];
        return;
    }
    stand s = stand_of(c->problem, c->o, first);
    for (int64_t e = first; e < last; e++, step_on(&s)) store(c->problem, c->o, c->from[e], c->packed, s.at);
}

static void unpack_piece(void *user, int64_t first, int64_t last)
{
    const copying *c = user;
    if (c->plain) {
        for (int64_t e = first; e < last; e++) c->to[e] = (double)((const float *)c->bytes)[e];
        return;
    }
    stand s = stand_of(c->problem, c->o, first);
    for (int64_t e = first; e < last; e++, step_on(&s)) c->to[e] = vf_unpack_element(c->problem, c->o, c->bytes, s.at);
}

void vf_pack_by(thread_pool *pool, const cnn_problem *problem, const cnn_operand *o, const double *values, void *bytes)
{
    copying c = {problem, o, .plain = is_plain_f32(problem, o), .from = values, .packed = bytes};
    vf_pieces(pool, o->count, pack_piece, &c);
}

void vf_unpack_by(thread_pool *pool, const cnn_problem *problem, const cnn_operand *o, const void *bytes,
                  double *values)
{
    copying c = {problem, o, .plain = is_plain_f32(problem, o), .to = values, .bytes = bytes};
    vf_pieces(pool, o->count, unpack_piece, &c);
}

void vf_pack(const cnn_problem *problem, const cnn_operand *o, const double *values, void *bytes)
{
    vf_pack_by(NULL, problem, o, values, bytes);
}

void vf_unpack(const cnn_problem *problem, const cnn_operand *o, const void *bytes, double *values)
{
    vf_unpack_by(NULL, problem, o, bytes, values);
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

typedef struct rounding {
    cnn_dtype dtype;
    double *values;
} rounding;

static void round_piece(void *user, int64_t first, int64_t last)
{
    const rounding *r = user;
    if (r->dtype == CNN_F32)
        for (int64_t i = first; i < last; i++) r->values[i] = (double)(float)r->values[i];
    else
        for (int64_t i = first; i < last; i++) r->values[i] = cnn_stored(r->dtype, r->values[i]);
}

void vf_round(thread_pool *pool, const cnn_problem *problem, const cnn_operand *o, double *values)
{
    rounding r = {cnn_elem_dtype(&problem->u.type, o->elem), values};
    if (cnn_elem_real(o->elem) && r.dtype != CNN_F64) vf_pieces(pool, o->count, round_piece, &r);
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
