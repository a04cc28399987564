/* mma.h: a warp's product on tensor cores, mma.sync (PTX ISA, compute capability 8.0 and later; C++):
 *
 *   d[16][8] += a[16][8] * b[8][8]        factors of TF32 (words of f32), sums of f32: m16n8k8
 *   d[16][8] += a[16][16] * b[16][8]      factors of f16 or bf16, sums of f32: m16n8k16
 *
 * Lane l has, with g = l/4 and t = l%4: of d rows g and g + 8, columns 2t and 2t + 1, in this order: (g,2t), (g,2t+1),
 * (g+8,2t), (g+8,2t+1). Of a rows g and g + 8, and of b column g: of TF32 at k = t and t + 4, a word each; of 16 bits
 * at k = 2t and 2t + 1, two a word, and in another word 8 further. A word of both of a's rows comes before the next.
 *
 * These words come from shared memory by ldmatrix: of four matrices with 8 rows of 16 bytes, 16-byte aligned, lane l
 * brings the address of row l%8 of matrix l/8, and gets word t of row g of each. */
#ifndef HARNESS_CUDA_MMA_H
#define HARNESS_CUDA_MMA_H

#include "harness/cuda/real.h"

#ifdef BENCHCNN_CUDA_EMULATED
#include "harness/cuda/emulated/cores.h"
#endif

#ifdef BENCHCNN_CUDA_EMULATED
/* What a lane brings: its numbers of a's rows g and g + 8 and of b's column, and of which of these three all are 0, or
 * finite: most of a tile that is not full is zeros, which change nothing. */
template <int COUNT> struct cuda_mma_part {
    double of[3][COUNT];
    bool zero[3], finite[3];
};
template <typename T>
static inline cuda_mma_part<2 * emulated_factor<T>::IN_WORD> cuda_mma_part_of(const uint32_t *a, const uint32_t *b)
{
    constexpr int IN_WORD = emulated_factor<T>::IN_WORD, COUNT = 2 * IN_WORD;
    cuda_mma_part<COUNT> part;
    for (int h = 0; h < 3; h++) {
        part.zero[h] = part.finite[h] = true;
        for (int j = 0; j < COUNT; j++) {
            const int word = j / IN_WORD;
            const double v = emulated_factor<T>::at(h < 2 ? &a[h + 2 * word] : &b[word], j % IN_WORD);
            part.of[h][j] = v;
            part.zero[h] = part.zero[h] && v == 0;
            part.finite[h] = part.finite[h] && isfinite(v);
        }
    }
    return part;
}

/* Adds row h of a by lane `row`'s four to column `column`'s. */
template <int COUNT>
EMULATED_CORE static inline float cuda_mma_add(float d, const cuda_mma_part<COUNT> *row, int h,
                                               const cuda_mma_part<COUNT> *column)
{
    double terms[4 * COUNT + 1] = {static_cast<double>(d)};
    bool zero_row = true, zero_column = true, finite = true;
    for (int t = 0; t < 4; t++) {
        zero_row = zero_row && row[t].zero[h];
        zero_column = zero_column && column[t].zero[2];
        finite = finite && row[t].finite[h] && column[t].finite[2];
    }
    if ((zero_row || zero_column) && finite) return d;
    for (int t = 0; t < 4; t++)
        for (int j = 0; j < COUNT; j++) terms[1 + COUNT * t + j] = row[t].of[h][j] * column[t].of[2][j];
    return emulated_sum(terms);
}

template <typename T> static inline void cuda_mma(T, float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    const cuda_mma_part<2 * emulated_factor<T>::IN_WORD> *all = emulated_all_of(cuda_mma_part_of<T>(a, b));
    const unsigned lane = threadIdx.x % 32;
    for (int i = 0; i < 4; i++) {
        const unsigned column = 2 * (lane % 4) + static_cast<unsigned>(i % 2);
        d[i] = cuda_mma_add(d[i], &all[lane / 4 * 4], i / 2, &all[column * 4]);
    }
}
static inline void cuda_load_matrices(uint32_t (&to)[4], const void *row)
{
    const void *const *rows = emulated_all_of(row);
    const unsigned lane = threadIdx.x % 32;
    for (unsigned i = 0; i < 4; i++)
        memcpy(&to[i], static_cast<const char *>(rows[8 * i + lane / 4]) + lane % 4 * 4, sizeof to[i]);
}
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
static __device__ inline void cuda_load_matrices(uint32_t (&to)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(row)))
                 : "memory");
}
static __device__ inline void cuda_mma(float, float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
static __device__ inline void cuda_mma(__half, float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
static __device__ inline void cuda_mma(__nv_bfloat16, float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#else
/* Of older devices, whose kernels are compiled and refused. */
static __device__ inline void cuda_load_matrices(uint32_t (&)[4], const void *) { __trap(); }
template <typename T>
static __device__ inline void cuda_mma(T, float (&)[4], const uint32_t (&)[4], const uint32_t (&)[2])
{
    __trap();
}
#endif

#endif
