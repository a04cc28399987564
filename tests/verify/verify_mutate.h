/* verify_mutate.h: the ways in which the fake implementation of verify_fake.h can be wrong: in what it reads, in what
 * it writes, in memory that is not its own. */
#ifndef TESTS_VERIFY_VERIFY_MUTATE_H
#define TESTS_VERIFY_VERIFY_MUTATE_H

#include "verify/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum mutant {
    MUTANT_NONE,
    MUTANT_NAN,
    MUTANT_CORNER,
    MUTANT_ZEROS,
    MUTANT_LAST_TAP,
    MUTANT_SCRIBBLE,
    MUTANT_PAST_END,
    MUTANT_BEFORE_START,
    MUTANT_SWAPPED,
    MUTANT_TF32,
    MUTANT_BF16,
    MUTANT_NO_BIAS,
    MUTANT_NO_BETA,
    MUTANT_STALE,
    MUTANT_RANDOM,
    MUTANT_THREADS,
    MUTANT_UNWRITTEN,
    MUTANT_LAYOUT,
    MUTANT_HALF_SUM,
    MUTANT_SINGLE,
    MUTANT_HALF,
    MUTANT_BY_ADDRESS,
    MUTANT_COUNT,
    TWO_THREADS /* right, but takes problems with two threads alone */
} mutant;

struct cnn_context {
    int threads;
    mutant mutant;
    unsigned calls;
    const void *kept_at; /* BY_ADDRESS: where the input stood that `kept` holds */
    double *kept;
    int64_t kept_count;
};

static double fake_keep_bits(double v, int bits)
{
    int exponent;
    double fraction = frexp(v, &exponent);
    return ldexp(nearbyint(ldexp(fraction, bits)), exponent - bits);
}

/* As f16 holds it: 11 bits, and below 2^-14 steps of 2^-24. */
static double fake_half(double v)
{
    return fabs(v) < 0x1p-14 ? nearbyint(v * 0x1p24) * 0x1p-24 : fake_keep_bits(v, 11);
}

static bool fake_is(const cnn_operand *o, const char *a, const char *b)
{
    return strcmp(o->name, a) == 0 || strcmp(o->name, b) == 0;
}

/* Mutations of what a kernel reads. */
static void fake_mutate_input(const cnn_context *context, const cnn_operand *o, double *v)
{
    int64_t taps = o->dims[2] * o->dims[3];
    for (int64_t i = 0; i < o->count; i++) {
        if (context->mutant == MUTANT_TF32 && fake_is(o, "x", "w")) v[i] = fake_keep_bits(v[i], 11);
        if (context->mutant == MUTANT_TF32 && fake_is(o, "dy", "dy")) v[i] = fake_keep_bits(v[i], 11);
        if (context->mutant == MUTANT_SINGLE && fake_is(o, "x", "w")) v[i] = (double)(float)v[i];
        if (context->mutant == MUTANT_SINGLE && fake_is(o, "dy", "dy")) v[i] = (double)(float)v[i];
        if (context->mutant == MUTANT_BF16 && fake_is(o, "w", "dy")) v[i] = fake_keep_bits(v[i], 8);
        if (context->mutant == MUTANT_LAST_TAP && fake_is(o, "w", "w") && i % taps == taps - 1) v[i] = 0.0;
        if (context->mutant == MUTANT_NO_BIAS && fake_is(o, "b", "b")) v[i] = 0.0;
    }
    for (int64_t i = 0; context->mutant == MUTANT_SWAPPED && fake_is(o, "w", "w") && i < o->count; i += taps)
        for (int64_t h = 0; h < o->dims[2]; h++)
            for (int64_t w = 0; w < h && o->dims[2] == o->dims[3]; w++) {
                double t = v[i + h * o->dims[3] + w];
                v[i + h * o->dims[3] + w] = v[i + w * o->dims[3] + h];
                v[i + w * o->dims[3] + h] = t;
            }
}

/* BY_ADDRESS: what was read first from an address is taken for what stands there. */
static void fake_keep(cnn_context *context, const void *data, double *v, int64_t count)
{
    const size_t bytes = (size_t)count * sizeof *v;
    if (context->kept_at == data && context->kept_count == count) {
        memcpy(v, context->kept, bytes);
        return;
    }
    free(context->kept);
    context->kept = malloc(bytes);
    if (context->kept == NULL) abort();
    memcpy(context->kept, v, bytes);
    context->kept_at = data, context->kept_count = count;
}

/* Mutations of what it writes: values, in canonical order. */
static void fake_mutate_output(const cnn_context *context, const cnn_operand *o, double *v)
{
    double *last = &v[o->count - 1];
    int64_t taps = o->dims[2] * o->dims[3];
    bool odd = context->mutant == MUTANT_RANDOM ? context->calls % 2 == 1 : context->threads == 3;
    switch (context->mutant) {
    case MUTANT_NAN:
        *last = NAN;
        break;
    case MUTANT_CORNER:
        *last += 1.0 + fabs(*last) * 0.01;
        break;
    case MUTANT_ZEROS:
        memset(v, 0, (size_t)o->count * sizeof *v);
        break;
    case MUTANT_LAST_TAP:
        for (int64_t i = taps - 1; fake_is(o, "dw", "dw") && i < o->count; i += taps) v[i] = 0.0;
        break;
    case MUTANT_NO_BIAS:
        *last = fake_is(o, "db", "db") ? 0.0 : *last;
        break;
    case MUTANT_HALF_SUM:
        for (int64_t i = 0; i < o->count; i++) v[i] = fake_keep_bits(v[i], 11);
        break;
    case MUTANT_HALF: /* the least that sums in f16 are off by: only the last one is rounded */
        for (int64_t i = 0; i < o->count; i++) v[i] = fake_half(v[i]);
        break;
    case MUTANT_RANDOM:
    case MUTANT_THREADS:
        *last = odd ? *last * (1.0 + 0x1p-23) + 0x1p-140 : *last;
        break;
    default:
        break;
    }
}

/* Mutations of memory: of a kernel that no sanitizer sees into. */
__attribute__((no_sanitize_address)) static void fake_mutate_memory(const cnn_context *context, const cnn_plan *plan,
                                                                    const cnn_operand *o, char *data,
                                                                    const void *workspace)
{
    bool f64 = plan->problem.u.type.dtype == CNN_F64;
    if (context->mutant == MUTANT_PAST_END && o->access != CNN_IN) data[o->bytes] = (char)(data[o->bytes] ^ 1);
    if (context->mutant == MUTANT_BEFORE_START && o->access != CNN_IN) data[-1] = (char)(data[-1] ^ 1);
    if (context->mutant == MUTANT_SCRIBBLE && o->access == CNN_IN) data[o->bytes - 1] = (char)(data[o->bytes - 1] ^ 1);
    if (context->mutant == MUTANT_STALE && o->access != CNN_IN && cnn_elem_real(o->elem)) {
        if (f64)
            *(double *)(void *)data += *(const double *)workspace;
        else
            *(float *)(void *)data += *(const float *)workspace;
    }
}

#endif
