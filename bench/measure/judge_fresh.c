/* judge_fresh.c: an input of a convolution or FC layer that is another one in every run, in all of its elements.
 *
 * Where a few elements change, a kernel that keeps its last inputs and results can add what the differences make. So
 * nothing is kept here: an input, with all that lies before it, is pieced together from a pool of random reals, cut at
 * random places; on a device by copies there. What its outputs must project to is then a sum over it (judge_basis.h).
 * The other factor, and what is kept of it, is judged by the runs in which it is the fresh one, and by those in which
 * single elements of either change (judge_disturb.c), beside inputs that are the case's. */
#include "judge_parts.h"

#include <stdlib.h>
#include <string.h>

cnn_status judge_fresh_open(judge *j, cnn_error *err)
{
    if (!j->sums || !j->session->impl->memory || !j->basis->pool) return CNN_OK;
    cnn_status status = cnn_mem_alloc(j->session, j->basis->pool_bytes, &j->pool, err);
    return status == CNN_OK ? cnn_mem_upload(j->hands.session, j->pool, j->basis->pool, j->basis->pool_bytes, err)
                            : status;
}

void judge_fresh_close(judge *j)
{
    if (j->pool) cnn_mem_free(j->session, j->pool);
    j->pool = NULL;
}

static size_t span_bytes(const judge *j) { return j->lead_bytes + j->c.call.operands[j->fresh].bytes; }
static char *where(const judge *j) { return (char *)j->buffers[j->fresh] - j->lead_bytes; }

/* So few that a piece of the pool would come again: each is drawn. */
static cnn_status draw_each(judge *j, cnn_error *err)
{
    const cnn_operand *o = &j->c.call.operands[j->fresh];
    const size_t size = o->bytes / (size_t)o->count;
    char *mine = j->lead[j->fresh];
    for (size_t at = 0; at < span_bytes(j); at += size)
        vf_pack_element(&j->c.problem, o, judge_draw_input(&j->c.problem.u.type, &j->rng), mine + at);
    return cnn_mem_upload(j->hands.session, where(j), mine, span_bytes(j), err);
}

/* A piece is from a quarter to half of the pool long, or what is left. */
static cnn_status piece_together(judge *j, cnn_error *err)
{
    const cnn_operand *o = &j->c.call.operands[j->fresh];
    const int64_t size = (int64_t)o->bytes / o->count, all = (int64_t)j->basis->pool_bytes / size;
    const int64_t count = (int64_t)span_bytes(j) / size;
    cnn_status status = CNN_OK;
    for (int64_t at = 0, n; status == CNN_OK && at < count; at += n) {
        n = rng_int(&j->rng, all / 4, all / 2);
        n = n < count - at ? n : count - at;
        const int64_t from = rng_int(&j->rng, 0, all - n);
        const size_t bytes = (size_t)(n * size);
        char *mine = (char *)j->lead[j->fresh] + at * size;
        memcpy(mine, j->basis->pool + from * size, bytes);
        if (j->pool)
            status = cnn_mem_copy(j->hands.session, where(j) + at * size, (char *)j->pool + from * size, bytes, err);
        else
            memcpy(where(j) + at * size, mine, bytes);
    }
    return status;
}

/* The case's inputs again, but for the one that is fresh from now on. */
static cnn_status put_back(judge *j, int operand, cnn_error *err)
{
    const int before = j->fresh;
    cnn_status status = judge_restore(j, err);
    j->fresh = operand;
    return status == CNN_OK && before >= 0 && before != operand ? judge_fill(j, before, err) : status;
}

cnn_status judge_freshen(judge *j, int operand, cnn_error *err)
{
    enum { FEW = 1024 };
    const cnn_status status = put_back(j, operand, err);
    if (status != CNN_OK) return status;
    return j->c.call.operands[operand].count <= FEW ? draw_each(j, err) : piece_together(j, err);
}

cnn_status judge_stale(judge *j, cnn_error *err) { return j->fresh >= 0 ? put_back(j, -1, err) : CNN_OK; }

static double sum_f32(const float *values, int64_t count, const double *factors)
{
    double part[4] = {0, 0, 0, 0}; /* so that the additions need not wait for each other */
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; k++) part[k] += (double)values[i + k] * factors[i + k];
    for (; i < count; i++) part[0] += (double)values[i] * factors[i];
    return part[0] + part[1] + part[2] + part[3];
}

double judge_fresh_expected(const judge *j, int output)
{
    const cnn_operand *o = &j->c.call.operands[j->fresh];
    const judge_pullback *p = &j->basis->pullback[j->fresh];
    const char *now = (const char *)j->lead[j->fresh] + j->lead_bytes;
    const double *factors = p->factors[output];
    if (!factors) return j->expected[output];
    if (cnn_elem_dtype(&j->c.problem.u.type, o->elem) == CNN_F32)
        return p->rest[output] + sum_f32((const float *)(const void *)now, o->count, factors);
    long double sum = p->rest[output]; /* f64 is held to rounding errors that sums in double have, too */
    for (int64_t i = 0; i < o->count; i++)
        sum += (long double)vf_unpack_element(&j->c.problem, o, now, i) * (long double)factors[i];
    return (double)sum;
}

/* A copy of the case as the inputs are now, with what must come out of them. */
cnn_status judge_fresh_case(const judge *j, vf_case *now, cnn_error *err)
{
    cnn_status status = vf_case_copy(&j->c, now, err);
    if (status != CNN_OK) return status;
    const char *mine = (const char *)j->lead[j->fresh] + j->lead_bytes;
    vf_unpack(&now->problem, &now->call.operands[j->fresh], mine, now->before[j->fresh]);
    status = vf_case_again(now, j->session->threads, err);
    if (status != CNN_OK) vf_case_free(now);
    return status;
}
