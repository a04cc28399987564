/* emulated.h: asm.h's functions on the host, for harness/cuda/emulated. Copies arrive at once; a thread that waits for
 * a barrier gives the others their turn. The tensor cores' arithmetic is theirs: factors lose 13 bits, and each step's
 * sum is cut to 24 (as seen on an H100), so the verifier sees here what it sees there. */
#ifndef IMPL_CUDA_TENSOR_EMULATED_H
#define IMPL_CUDA_TENSOR_EMULATED_H

#include <string.h>

static inline uint32_t __float_as_uint(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}
static inline float __uint_as_float(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* ---- Shared memory: an address is the distance from its beginning. */
template <typename T> static inline T *at_address(uint32_t address)
{
    return reinterpret_cast<T *>(static_cast<char *>(emulated_dynamic_shared()) + address);
}
static inline uint32_t first_address() { return 0; }
static inline void load4(uint32_t (&v)[4], uint32_t a) { memcpy(v, at_address<char>(a), sizeof v); }
static inline void load2(uint32_t &v, uint32_t &w, uint32_t a)
{
    memcpy(&v, at_address<char>(a), 4);
    memcpy(&w, at_address<char>(a + 4), 4);
}
static inline void store4(uint32_t a, const uint32_t (&v)[4]) { memcpy(at_address<char>(a), v, sizeof v); }

/* ---- Barriers */
struct emulated_mbarrier {
    uint16_t count, left;
    uint32_t phase;
};
static inline void barrier_init(uint32_t barrier, int count)
{
    *at_address<emulated_mbarrier>(barrier) = {static_cast<uint16_t>(count), static_cast<uint16_t>(count), 0};
}
static inline void barriers_are_made() {}
static inline void barrier_arrive(uint32_t barrier)
{
    emulated_mbarrier *b = at_address<emulated_mbarrier>(barrier);
    if (--b->left > 0) return;
    b->left = b->count;
    b->phase++;
}
static inline void barrier_expect(uint32_t barrier, int) { barrier_arrive(barrier); }
static inline void barrier_arrive_after_copies(uint32_t barrier) { barrier_arrive(barrier); }
static inline void barrier_wait(uint32_t barrier, int parity)
{
    while ((at_address<emulated_mbarrier>(barrier)->phase & 1) == static_cast<uint32_t>(parity))
        emulated_poll(__FILE__, __LINE__);
}
static inline void barrier_of(int id, int threads) { emulated_named_barrier(id, threads, __FILE__, __LINE__); }
static inline void flag_set(unsigned *flag) { *flag = 1; }
static inline void flag_wait(const unsigned *flag)
{
    while (*flag == 0) emulated_poll(__FILE__, __LINE__);
}

/* ---- Copies */
static inline void copy16(uint32_t to, const void *from, int bytes)
{
    memset(at_address<char>(to), 0, 16);
    memcpy(at_address<char>(to), from, static_cast<size_t>(bytes));
}
static inline void copy4(uint32_t to, const void *from, int bytes)
{
    memset(at_address<char>(to), 0, 4);
    memcpy(at_address<char>(to), from, static_cast<size_t>(bytes));
}
static inline void copies_commit() {}
template <int N> static inline void copies_wait() {}
static inline void copy_bulk(uint32_t to, const void *from, int bytes, uint32_t)
{
    memcpy(at_address<char>(to), from, static_cast<size_t>(bytes));
}
static inline void stores_to_products() {}

/* ---- Products */
static inline void products_begin() {}
static inline void products_commit() {}
template <int N> static inline void products_wait() {}
template <typename T, int N> static inline void pin(T (&)[N]) {}
static inline void next_may_start() {}
static inline void wait_for_previous() {}
#define REGISTERS_LESS(n) (void)0
#define REGISTERS_MORE(n) (void)0

static inline float emulated_tf32(uint32_t bits) { return __uint_as_float(bits & 0xffffe000u); }

/* Toward zero, of 24 bits. */
static inline float emulated_cut(double v)
{
    const float rounded = static_cast<float>(v);
    return fabs(static_cast<double>(rounded)) > fabs(v) ? nextafterf(rounded, 0.0f) : rounded;
}

/* The adders shift all terms to the largest one's place and drop what lies more than two bits below its 24 (Fasi et
 * al., "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7, 2021), so that a tiny term takes nothing
 * from a large sum. */
static inline float emulated_sum(const double *terms, int count)
{
    double most = 0.0, sum = 0.0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(terms[i]));
    if (!(most > 0.0) || isinf(most)) {
        for (int i = 0; i < count; i++) sum += terms[i];
        return static_cast<float>(sum);
    }
    const double grid = ldexp(1.0, ilogb(most) - 25);
    for (int i = 0; i < count; i++) sum += trunc(terms[i] / grid) * grid;
    return emulated_cut(sum);
}

/* Row n of the tile: 8 numbers, in two places of 16 bytes. */
static inline void emulated_tile_row(uint64_t descriptor, int n, double (&row)[8])
{
    const uint32_t address = static_cast<uint32_t>(descriptor & 0x3FFF) * 16 + static_cast<uint32_t>(n) * 128;
    for (uint32_t half = 0; half < 2; half++) {
        const uint32_t place = address + 16 * half;
        const uint32_t *numbers = at_address<uint32_t>(place ^ (place >> 7 & 7) << 4);
        for (int k = 0; k < 4; k++) row[4 * half + k] = static_cast<double>(emulated_tf32(numbers[k]));
    }
}

/* A warp's 16 rows: each lane brings its part of A and takes all of it. Two places in turns, so that no lane writes
 * what another one still reads. */
template <int N> static inline void multiply(float (&d)[N], const uint32_t *a, uint64_t b, int add)
{
    static uint32_t all[2][32][32][4];
    static unsigned char turns[32][32];
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const unsigned turn = turns[warp][lane]++ % 2;
    double rows[2][8], column[8];
    memcpy(all[turn][warp][lane], a, sizeof all[turn][warp][lane]);
    __syncwarp();
    for (unsigned h = 0; h < 2; h++)
        for (unsigned k = 0; k < 8; k++)
            rows[h][k] = static_cast<double>(emulated_tf32(all[turn][warp][4 * g + k % 4][h + 2 * (k / 4)]));
    for (int i = 0; i < N / 2; i++) {
        emulated_tile_row(b, i / 2 * 8 + static_cast<int>(2 * t) + i % 2, column);
        for (int h = 0; h < 2; h++) {
            float *to = &d[i / 2 * 4 + 2 * h + i % 2];
            double terms[9] = {add ? static_cast<double>(*to) : 0};
            for (int k = 0; k < 8; k++) terms[k + 1] = rows[h][k] * column[k];
            *to = emulated_sum(terms, 9);
        }
    }
}

#endif
