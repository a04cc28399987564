/* retouch.c: see case.h. */
#include "case.h"

#include "element.h"
#include "lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct retouching {
    vf_case *c;
    int other, result; /* operands: the other factor, where the products are added up */
    double from, to;
    vf_changed *each;
    void *user;
} retouching;

static void change_result(const retouching *r, int operand, int64_t index, double difference, double size)
{
    r->c->after[operand][index] += difference;
    if (r->c->magnitude[operand]) r->c->magnitude[operand][index] += size;
    if (r->each) r->each(r->user, operand, index, difference);
}

static int64_t position_of(const retouching *r, int operand, const vf_product *p)
{
    const char tensor = vf_tensor_of(&r->c->problem, &r->c->call.operands[operand]);
    return tensor == 'x' ? p->x : tensor == 'w' ? p->w : p->y;
}

static void change_product(void *user, const vf_product *p)
{
    const retouching *r = user;
    const double other = r->c->before[r->other][position_of(r, r->other, p)];
    change_result(r, r->result, position_of(r, r->result, p), (r->to - r->from) * other,
                  (fabs(r->to) - fabs(r->from)) * fabs(other));
}

void vf_retouch(vf_case *c, int operand, int64_t index, double value, vf_changed *each, void *user)
{
    static const char *const others[CNN_DIR_COUNT][2] = {{"x", "w"}, {"dy", "w"}, {"x", "dy"}};
    static const char *const results[CNN_DIR_COUNT] = {"y", "dx", "dw"};
    const vf_call *call = &c->call;
    const cnn_conv_desc d = vf_as_conv(&c->problem);
    const char *name = call->operands[operand].name, *const *pair = others[call->dir];
    const int db = vf_index(call->operands, call->count, "db");
    retouching r = {.c = c,
                    .other = vf_index(call->operands, call->count, pair[strcmp(name, pair[0]) == 0]),
                    .result = vf_index(call->operands, call->count, results[call->dir]),
                    .from = c->before[operand][index],
                    .to = value,
                    .each = each,
                    .user = user};
    vf_products_of(&d, vf_tensor_of(&c->problem, &call->operands[operand]), index, change_product, &r);
    const int64_t *dims = call->operands[operand].dims;
    if (db >= 0 && strcmp(name, "dy") == 0)
        change_result(&r, db, index / (dims[2] * dims[3]) % dims[1], r.to - r.from, fabs(r.to) - fabs(r.from));
    c->before[operand][index] = value;
}

static cnn_status copy_array(const double *from, int64_t count, double **to, cnn_error *err)
{
    if (!from) return CNN_OK;
    *to = malloc((size_t)count * sizeof **to);
    if (!*to) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a copy of %lld values", (long long)count);
    memcpy(*to, from, (size_t)count * sizeof **to);
    return CNN_OK;
}

static cnn_status copy_kinds(const unsigned char *from, int64_t count, unsigned char **to, cnn_error *err)
{
    *to = malloc((size_t)count);
    if (!*to) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a copy of %lld kinds", (long long)count);
    memcpy(*to, from, (size_t)count);
    return CNN_OK;
}

cnn_status vf_case_copy(const vf_case *from, vf_case *c, cnn_error *err)
{
    cnn_status status = CNN_OK;
    *c = *from;
    for (int i = 0; i < CNN_MAX_OPERANDS; i++)
        c->before[i] = c->after[i] = c->magnitude[i] = c->roundings[i] = NULL, c->kind[i] = NULL;
    c->call.problem = &c->problem;
    c->call.pool = NULL; /* the other's may be gone before this copy is */
    for (int i = 0; status == CNN_OK && i < c->call.count; i++) {
        const int64_t count = c->call.operands[i].count;
        status = copy_array(from->before[i], count, &c->before[i], err);
        if (status == CNN_OK) status = copy_array(from->after[i], count, &c->after[i], err);
        if (status == CNN_OK) status = copy_array(from->magnitude[i], count, &c->magnitude[i], err);
        if (status == CNN_OK) status = copy_array(from->roundings[i], count, &c->roundings[i], err);
        c->call.in[i] = c->before[i];
        if (status == CNN_OK && from->kind[i]) status = copy_kinds(from->kind[i], count, &c->kind[i], err);
        c->call.out[i] = (vf_out){c->after[i], c->magnitude[i], c->roundings[i], c->kind[i]};
    }
    if (status != CNN_OK) vf_case_free(c);
    return status;
}

cnn_status vf_case_again(vf_case *c, int threads, cnn_error *err)
{
    thread_pool *pool;
    const cnn_status status = thread_pool_open(threads, &pool, err);
    if (status != CNN_OK) return status;
    c->call.pool = pool;
    vf_reference(&c->call);
    vf_find_kinds(c);
    c->call.pool = NULL;
    thread_pool_close(pool);
    return CNN_OK;
}
