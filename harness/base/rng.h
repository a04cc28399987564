/* rng.h: reproducible random numbers: splitmix64, counter-free state of 8 bytes, the same on every machine. */
#ifndef HARNESS_BASE_RNG_H
#define HARNESS_BASE_RNG_H

#include <math.h>
#include <stdint.h>

typedef struct cnn_rng {
    uint64_t state;
} cnn_rng;

static inline uint64_t rng_u64(cnn_rng *rng)
{
    uint64_t z = (rng->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* A generator of its own for stream `stream` of `seed`. */
static inline cnn_rng rng_stream(uint64_t seed, uint64_t stream)
{
    cnn_rng rng = {seed ^ (stream * 0xD1342543DE82EF95u + 0x632BE59BD9B4E019u)};
    rng.state = rng_u64(&rng);
    return rng;
}

/* As `numbers` calls of rng_u64(). */
static inline void rng_skip(cnn_rng *rng, uint64_t numbers) { rng->state += numbers * 0x9E3779B97F4A7C15u; }

/* Uniform in [0, 1). */
static inline double rng_unit(cnn_rng *rng) { return (double)(rng_u64(rng) >> 11) * (1.0 / 9007199254740992.0); }

/* Uniform in [lo, hi), both ends integers: [lo, hi] for rng_int. */
static inline double rng_real(cnn_rng *rng, double lo, double hi) { return lo + (hi - lo) * rng_unit(rng); }
static inline int64_t rng_int(cnn_rng *rng, int64_t lo, int64_t hi)
{
    return lo + (int64_t)(rng_u64(rng) % (uint64_t)(hi - lo + 1));
}

/* Standard normal (Box and Muller). */
static inline double rng_normal(cnn_rng *rng)
{
    double u = 1.0 - rng_unit(rng), v = rng_unit(rng);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

#endif
