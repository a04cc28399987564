/* cpu_ops.h: what the tests of impl_cpu's operations share: contexts of 1, 2 and 3 threads on every instruction set
 * that this machine has, vectors of either type, and comparisons. Every operation is run in all contexts; the results
 * must be the same bits, and those of the first agree with a formula written out in double in the test. */
#ifndef TESTS_IMPL_CPU_CPU_OPS_H
#define TESTS_IMPL_CPU_CPU_OPS_H

#include "harness/base/rng.h"
#include "harness/problem/shape.h"
#include "impl_cpu/cpu.h"
#include "tests/unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MAX_CONTEXTS = 3 * CPU_ISA_COUNT };

typedef struct cpu_contexts {
    int count;
    cpu_context of[MAX_CONTEXTS];
} cpu_contexts;

static inline cnn_context *context_at(cpu_contexts *all, int v) { return (void *)&all->of[v]; }

static inline int open_contexts(void **state)
{
    cpu_contexts *all = calloc(1, sizeof *all);
    cnn_error err;
    if (all == NULL) return -1;
    for (int threads = 1; threads <= 3; threads++) {
        for (int isa = CPU_ISA_BASE; isa <= (int)cpu_isa_best(); isa++) {
            cpu_context *context = &all->of[all->count++];
            context->threads = threads;
            context->isa = (cpu_isa)isa;
            if (thread_pool_open(threads, &context->pool, &err) != CNN_OK) return -1;
        }
    }
    *state = all;
    return 0;
}

static inline int close_contexts(void **state)
{
    cpu_contexts *all = *state;
    for (int v = 0; v < all->count; v++) thread_pool_close(all->of[v].pool);
    free(all);
    return 0;
}

/* A vector in the memory of exactly its size, so that the address sanitizer sees any step beyond it. */
typedef struct vec {
    cnn_dtype dtype;
    int64_t count;
    size_t bytes;
    void *data, *first; /* `first`: what the first context computed */
} vec;

static inline vec vec_new(cnn_dtype dtype, int64_t count)
{
    vec v = {dtype, count, (size_t)count * (dtype == CNN_F32 ? sizeof(float) : sizeof(double)), NULL, NULL};
    v.data = malloc(v.bytes);
    v.first = malloc(v.bytes);
    assert_non_null(v.data);
    assert_non_null(v.first);
    return v;
}

static inline void vec_free(vec *v)
{
    free(v->data);
    free(v->first);
}

static inline double vec_get(const vec *v, int64_t i)
{
    return v->dtype == CNN_F32 ? (double)((const float *)v->data)[i] : ((const double *)v->data)[i];
}

static inline void vec_set(vec *v, int64_t i, double value)
{
    if (v->dtype == CNN_F32)
        ((float *)v->data)[i] = (float)value;
    else
        ((double *)v->data)[i] = value;
}

static inline vec vec_random(cnn_dtype dtype, int64_t count, uint64_t seed, double lo, double hi)
{
    vec v = vec_new(dtype, count);
    cnn_rng rng = rng_stream(seed, 1);
    for (int64_t i = 0; i < count; i++) vec_set(&v, i, rng_real(&rng, lo, hi));
    return v;
}

/* Integers from few values: many ties. */
static inline vec vec_integers(cnn_dtype dtype, int64_t count, uint64_t seed, int64_t lo, int64_t hi)
{
    vec v = vec_new(dtype, count);
    cnn_rng rng = rng_stream(seed, 2);
    for (int64_t i = 0; i < count; i++) vec_set(&v, i, (double)rng_int(&rng, lo, hi));
    return v;
}

/* Before each run of an output: NaN everywhere. */
static inline void vec_poison(vec *v) { memset(v->data, 0xff, v->bytes); }

/* After run `context`: remembers the first, holds the others to it. */
static inline void vec_same_bits(vec *v, int context)
{
    if (context == 0) memcpy(v->first, v->data, v->bytes);
    if (memcmp(v->first, v->data, v->bytes) != 0) fail_msg("context %d computes other bits than context 0", context);
}

static inline double unit_roundoff(cnn_dtype dtype) { return dtype == CNN_F32 ? FLT_EPSILON / 2 : DBL_EPSILON / 2; }

/* |got - want| within `ulps` roundings of numbers of size `scale`; positive form, a NaN never passes. */
static inline void assert_near(const vec *v, int64_t i, double want, double scale, double ulps)
{
    const double got = vec_get(v, i), bound = ulps * unit_roundoff(v->dtype) * scale + 1e-300;
    if (!(fabs(got - want) <= bound))
        fail_msg("element %lld: %.17g instead of %.17g (bound %.3g)", (long long)i, got, want, bound);
}

static inline cnn_type type_of(cnn_dtype dtype, cnn_layout layout)
{
    return (cnn_type){dtype, dtype, layout, CNN_MATH_F32};
}

#define EACH_TYPE(dtype, layout)                                                                                       \
    for (cnn_dtype dtype = CNN_F32; dtype <= CNN_F64; dtype++)                                                         \
        for (cnn_layout layout = CNN_NCHW; layout < CNN_LAYOUT_COUNT; layout++)

#define EACH_CONTEXT(v) for (int v = 0; v < ((cpu_contexts *)*state)->count; v++)
#define CONTEXT(v) context_at(*state, v)

#endif
