/* judge_project.c: one number for a whole output: the sum of its elements, each times a random factor.
 *
 * The factors stand by position in memory, so that the sum is one pass over the bytes as they are. Rounding errors of
 * honest kernels add up like a random walk (vf_rms_limit): what is allowed is a multiple of that. A projection that is
 * off is no verdict yet: the elements and their bounds give that. */
#include "harness/cnn/half.h"
#include "judge_parts.h"

#include <math.h>
#include <stdlib.h>

/* The random walk of n errors, each magnitude / sqrt(roundings) times the limit of its root mean square. */
static double allowed_of(const judge *j, int operand)
{
    enum { TIMES = 12 };
    const cnn_operand *o = &j->c.call.operands[operand];
    const vf_rounding all = vf_rounding_of(&j->c.problem, &j->plan->algorithm);
    const vf_rounding r = vf_rounding_in(&all, &j->c, o);
    double squares = 0, roots = 0, stored = 0;
    int64_t count = 0;
    for (int64_t e = 0; e < o->count; e++) {
        const double n = j->c.roundings[operand][e], size = j->c.magnitude[operand][e];
        if (!(n > 0)) continue;
        const double last = vf_storing(&r, j->c.after[operand][e], 0);
        stored += last * last;
        squares += size * size / n;
        roots += sqrt(n);
        count++;
    }
    if (cnn_sums_whole(j->c.problem.u.type.dtype)) return 0.25; /* a whole number is off by one, times 0.5, at least */
    const double limit = vf_rms_limit(&r, count > 0 ? roots / (double)count : 0);
    return TIMES * sqrt(limit * limit * squares + stored);
}

void judge_expect(judge *j)
{
    for (int i = 0; i < j->c.call.count; i++) {
        const cnn_operand *o = &j->c.call.operands[i];
        if (!judge_is_projected(&j->c, i)) continue;
        j->expected[i] = 0;
        for (int64_t e = 0; e < o->count; e++) j->expected[i] += judge_factor_at(j->basis, o, e) * j->c.after[i][e];
    }
}

void judge_projections_open(judge *j)
{
    for (int i = 0; i < j->c.call.count; i++)
        if (judge_is_projected(&j->c, i)) j->allowed[i] = allowed_of(j, i);
    judge_expect(j);
}

void judge_follow(void *user, int operand, int64_t index, double difference)
{
    judge *j = user;
    const double moved = judge_factor_at(j->basis, &j->c.call.operands[operand], index) * difference;
    j->expected[operand] += moved;
    if (j->allowed[operand] > 0) j->moved += moved / j->allowed[operand];
}

static double sum_f32(const float *values, int64_t count, const double *factors)
{
    double sum = 0;
    for (int64_t from = 0; from < count; from += JUDGE_FACTORS) {
        const int64_t n = count - from < JUDGE_FACTORS ? count - from : JUDGE_FACTORS;
        double part[4] = {0, 0, 0, 0}; /* so that the additions need not wait for each other */
        int64_t i = 0;
        for (; i + 4 <= n; i += 4)
            for (int k = 0; k < 4; k++) part[k] += (double)values[from + i + k] * factors[i + k];
        for (; i < n; i++) part[0] += (double)values[from + i] * factors[i];
        sum += part[0] + part[1] + part[2] + part[3];
    }
    return sum;
}

static double sum_f64(const double *values, int64_t count, const double *factors)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += values[i] * factors[i % JUDGE_FACTORS];
    return sum;
}

static double sum_other(cnn_dtype dtype, const void *values, int64_t count, const double *factors)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += cnn_number_get(dtype, values, i) * factors[i % JUDGE_FACTORS];
    return sum;
}

static double sum_bytes(cnn_dtype dtype, const void *bytes, int64_t count, const double *factors)
{
    if (dtype == CNN_F64) return sum_f64(bytes, count, factors);
    return dtype == CNN_F32 ? sum_f32(bytes, count, factors) : sum_other(dtype, bytes, count, factors);
}

/* Host memory is read where it is. */
static cnn_status sum_of(const judge *j, int operand, double *sum, cnn_error *err)
{
    const cnn_operand *o = &j->c.call.operands[operand];
    const void *bytes = j->buffers[operand];
    cnn_status status = CNN_OK;
    if (j->session->impl->memory) {
        status = cnn_mem_download(j->hands.session, j->room, bytes, o->bytes, err);
        bytes = j->room;
    }
    if (status == CNN_OK)
        *sum = sum_bytes(cnn_elem_dtype(&j->c.problem.u.type, o->elem), bytes, o->count, j->basis->factors);
    return status;
}

cnn_status judge_project(judge *j, bool *agrees, cnn_error *err)
{
    cnn_status status = CNN_OK;
    *agrees = true;
    for (int i = 0; status == CNN_OK && i < j->c.call.count; i++) {
        double sum;
        if (!judge_is_projected(&j->c, i)) continue;
        status = sum_of(j, i, &sum, err);
        if (status != CNN_OK) break;
        const double expected = j->fresh >= 0 ? judge_fresh_expected(j, i) : j->expected[i];
        if (!(vf_finite(sum) && fabs(sum - expected) <= j->allowed[i])) *agrees = false;
    }
    return status;
}
