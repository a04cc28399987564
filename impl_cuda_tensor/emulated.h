/* emulated.h: asm.h's functions on the host, for harness/cuda/emulated. Copies arrive at once; a thread that waits for
 * a barrier gives the others their turn. */
#ifndef IMPL_CUDA_TENSOR_EMULATED_H
#define IMPL_CUDA_TENSOR_EMULATED_H

#include "harness/cuda/emulated/cores.h"

#include <string.h>

static inline float positive_part(float x) { return x <= 0 ? 0 : x; }

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
static inline void store1(uint32_t a, uint32_t v) { memcpy(at_address<char>(a), &v, sizeof v); }
template <int N> static inline void store_global(float *to, const float *v) { memcpy(to, v, N * sizeof *v); }

static inline void load_columns(uint32_t *v, uint32_t a)
{
    const uint32_t *rows = emulated_all_of(a);
    const unsigned lane = threadIdx.x % 32, column = lane / 4, row = 2 * (lane % 4);
    for (unsigned m = 0; m < 4; m++) {
        const uint32_t first = at_address<uint16_t>(rows[8 * m + row])[column];
        const uint32_t second = at_address<uint16_t>(rows[8 * m + row + 1])[column];
        v[m] = first | second << 16;
    }
}

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
static inline void cluster_barrier() { emulated_cluster_barrier(__FILE__, __LINE__); }
static inline float4 load_of_block(uint32_t address, int32_t rank)
{
    float4 v;
    memcpy(&v, emulated_peer_shared(at_address<char>(address), static_cast<unsigned>(rank)), sizeof v);
    return v;
}
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
struct tensor_map {
    const char *tensor;
    int64_t sizes[4];                                       /* channels (of 2 bytes), columns, rows, images */
    int64_t apart;                                          /* from pixel to pixel */
    uint32_t columns;                                       /* of a box */
    int32_t first_row, first_column, last_row, last_column; /* of taps: where windows' corners are */
    int32_t down, right;                                    /* from corner to corner */
};
/* 64 channels of a pixel as a swizzled row. */
static inline void emulated_copy_pixel(uint32_t to, const tensor_map &map, int64_t n, int64_t row, int64_t column,
                                       int32_t channel)
{
    static const char zeros[16] = {0};
    const bool there =
        n >= 0 && n < map.sizes[3] && row >= 0 && row < map.sizes[2] && column >= 0 && column < map.sizes[1];
    for (uint32_t place = 0; place < 8; place++) {
        const int64_t first = channel + 8 * static_cast<int64_t>(place);
        const bool inside = there && first < map.sizes[0];
        const int64_t from = ((n * map.sizes[2] + row) * map.sizes[1] + column) * map.apart + first;
        memcpy(at_address<char>(to + ((place ^ (to >> 7 & 7)) << 4)), inside ? map.tensor + 2 * from : zeros, 16);
    }
}
static inline void copy_line(uint32_t to, const tensor_map &map, int32_t n, int32_t row, int32_t column,
                             int32_t channel, uint32_t)
{
    for (uint32_t c = 0; c < map.columns; c++)
        emulated_copy_pixel(to + c * 128, map, n, row, column + static_cast<int64_t>(c), channel);
}
static inline void copy_tap(uint32_t to, const tensor_map &map, int32_t n, int32_t row, int32_t column, int32_t channel,
                            int32_t down, int32_t right, uint32_t)
{
    for (uint32_t c = 0; c < map.columns; c++) {
        emulated_copy_pixel(to + c * 128, map, n, row + down, column + right, channel);
        column += map.right;
        if (column <= map.last_column) continue;
        column = map.first_column;
        row += map.down;
        if (row <= map.last_row) continue;
        row = map.first_row;
        n++;
    }
}
static inline void copy_box(uint32_t to, const tensor_map &map, int32_t row, int32_t column, uint32_t barrier)
{
    copy_line(to, map, 0, 0, row, column, barrier);
}
static inline void stores_to_products() {}

/* ---- Products */
static inline void products_begin() {}
static inline void products_commit() {}
template <int N> static inline void products_wait() {}
template <typename T, int N> static inline void pin(T (&)[N]) {}
static inline void next_may_start() {}
static inline void wait_for_previous() {}
static inline int32_t same_in_warp(int32_t v) { return v; }
#define REGISTERS_LESS(n) (void)0
#define REGISTERS_MORE(n) (void)0

/* Where the swizzle puts the word of this address. */
static inline const uint32_t *emulated_word(uint32_t address)
{
    return at_address<uint32_t>(address ^ (address >> 7 & 7) << 4);
}
static inline uint32_t emulated_tile(uint64_t descriptor) { return static_cast<uint32_t>(descriptor & 0x3FFF) * 16; }

/* Column n of B': K numbers in 8 words, which are side by side; */
struct emulated_columns {
    template <typename T> static void get(uint64_t descriptor, int n, double *column)
    {
        const uint32_t address = emulated_tile(descriptor) + static_cast<uint32_t>(n) * 128;
        for (int k = 0; k < 8 * emulated_factor<T>::IN_WORD; k++) {
            const int word = k / emulated_factor<T>::IN_WORD;
            column[k] = emulated_factor<T>::at(emulated_word(address + 4 * static_cast<uint32_t>(word)),
                                               k % emulated_factor<T>::IN_WORD);
        }
    }
};
/* or one in each of 16 rows, of 64 numbers; the next 64 are where the descriptor says. */
struct emulated_rows {
    template <typename T> static void get(uint64_t descriptor, int n, double *column)
    {
        const uint32_t tile =
            emulated_tile(descriptor) + static_cast<uint32_t>(n / 64) * emulated_tile(descriptor >> 16);
        for (uint32_t k = 0; k < 16; k++)
            column[k] =
                emulated_factor<T>::at(emulated_word(tile + k * 128 + static_cast<uint32_t>(n % 64 / 2 * 4)), n % 2);
    }
};

/* All columns of B', each of which a lane makes for its warp; in turns, as emulated_all_of(). */
template <typename B, typename T, int N> static inline const double (*emulated_columns_of(uint64_t b))[16]
{
    static double(*const all)[32][N][16] = new double[2][32][N][16]; /* at its end a program searches .bss for leaks */
    static unsigned char turns[32][32];
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, turn = turns[warp][lane]++ % 2;
    for (unsigned n = lane; n < N; n += 32) B::template get<T>(b, static_cast<int>(n), all[turn][warp][n]);
    __syncwarp();
    return all[turn][warp];
}

/* What a lane has of D: two rows of A by the columns of its place. */
template <int K, int N>
EMULATED_CORE static inline void emulated_add(float (&d)[N], const double (&rows)[2][K], const double (*columns)[16],
                                              int add)
{
    for (int i = 0; i < N / 2; i++) {
        const double *column = columns[i / 2 * 8 + 2 * static_cast<int>(threadIdx.x % 4) + i % 2];
        for (int h = 0; h < 2; h++) {
            float *to = &d[i / 2 * 4 + 2 * h + i % 2];
            double terms[K + 1] = {add ? static_cast<double>(*to) : 0};
            for (int k = 0; k < K; k++) terms[k + 1] = rows[h][k] * column[k];
            *to = emulated_sum(terms);
        }
    }
}

/* A warp's 16 rows: each lane brings its part of A and takes all of it. */
struct emulated_part {
    uint32_t words[4];
};
template <typename B, typename T, int N>
static inline void emulated_multiply(float (&d)[N], const uint32_t *a, uint64_t b, int add)
{
    constexpr int EACH = emulated_factor<T>::IN_WORD, K = 8 * EACH;
    const emulated_part *all = emulated_all_of(emulated_part{{a[0], a[1], a[2], a[3]}});
    double rows[2][K];
    for (int h = 0; h < 2; h++)
        for (int k = 0; k < K; k++) {
            const int word = k / EACH;
            rows[h][k] = emulated_factor<T>::at(
                &all[threadIdx.x % 32 / 4 * 4 + static_cast<unsigned>(word % 4)].words[h + 2 * (word / 4)], k % EACH);
        }
    emulated_add<K>(d, rows, emulated_columns_of<B, T, 2 * N>(b), add);
}
template <typename T, int N> static inline void multiply(T, float (&d)[N], const uint32_t *a, uint64_t b, int add)
{
    emulated_multiply<emulated_columns, T>(d, a, b, add);
}
template <typename T, int N>
static inline void multiply_by_rows(T, float (&d)[N], const uint32_t *a, uint64_t b, int add)
{
    emulated_multiply<emulated_rows, T>(d, a, b, add);
}
/* Rows of A come as columns of B' do. */
template <typename A, typename B, typename T, int N>
static inline void emulated_multiply_shared(float (&d)[N], uint64_t a, uint64_t b, int add)
{
    constexpr int K = 8 * emulated_factor<T>::IN_WORD;
    const int warp = static_cast<int>(threadIdx.x / 32 % 4), lane = static_cast<int>(threadIdx.x % 32);
    double rows[2][K];
    for (int h = 0; h < 2; h++) A::template get<T>(a, 16 * warp + lane / 4 + 8 * h, rows[h]);
    emulated_add<K>(d, rows, emulated_columns_of<B, T, 2 * N>(b), add);
}
template <typename T, int N> static inline void multiply_shared(T, float (&d)[N], uint64_t a, uint64_t b, int add)
{
    emulated_multiply_shared<emulated_columns, emulated_columns, T>(d, a, b, add);
}
template <typename T, int N>
static inline void multiply_shared_by_rows(T, float (&d)[N], uint64_t a, uint64_t b, int add)
{
    emulated_multiply_shared<emulated_columns, emulated_rows, T>(d, a, b, add);
}
template <typename T, int N> static inline void multiply_shared_rows(T, float (&d)[N], uint64_t a, uint64_t b, int add)
{
    emulated_multiply_shared<emulated_rows, emulated_rows, T>(d, a, b, add);
}

#endif
