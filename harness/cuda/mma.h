/* mma.h: a warp's product on tensor cores, mma.sync.m16n8k8 (PTX ISA, compute capability 8.0 and later; C++):
 *
 *   d[16][8] += a[16][8] * b[8][8]      factors of TF32 (words of f32), f16 or bf16, sums of f32
 *
 * Lane l has, with g = l/4 and t = l%4: of d rows g and g + 8, columns 2t and 2t + 1, in this order: (g,2t), (g,2t+1),
 * (g+8,2t), (g+8,2t+1). Of a rows g and g + 8, and of b column g: of TF32 at k = t and t + 4, a word each, a's rows
 * first; of 16 bits at k = 2t and 2t + 1, two a word. */
#ifndef HARNESS_CUDA_MMA_H
#define HARNESS_CUDA_MMA_H

#include "harness/cuda/real.h"

#ifdef BENCHCNN_CUDA_EMULATED
#include "harness/cuda/emulated/cores.h"
#endif

/* Words of a factor that a lane has: twice as many of a as of b. */
template <typename T> struct cuda_mma_words {
    static constexpr int B = sizeof(T) == 4 ? 2 : 1;
};

#ifdef BENCHCNN_CUDA_EMULATED
/* What a lane brings: its two numbers of a's rows g and g + 8 and of b's column, and of which of these three both are
 * 0, or finite: most of a tile that is not full is zeros, which change nothing. */
struct cuda_mma_part {
    double of[3][2];
    bool zero[3], finite[3];
};
template <typename T> static inline cuda_mma_part cuda_mma_part_of(const uint32_t *a, const uint32_t *b)
{
    constexpr int WORDS = cuda_mma_words<T>::B, IN_WORD = emulated_factor<T>::IN_WORD;
    cuda_mma_part part;
    for (int h = 0; h < 3; h++) {
        for (int j = 0; j < 2; j++) {
            const int word = j / IN_WORD;
            const uint32_t *from = h < 2 ? &a[h + 2 * word] : &b[word];
            part.of[h][j] = emulated_factor<T>::at(from, j % IN_WORD);
        }
        part.zero[h] = part.of[h][0] == 0 && part.of[h][1] == 0;
        part.finite[h] = isfinite(part.of[h][0]) && isfinite(part.of[h][1]);
    }
    static_assert(WORDS * IN_WORD == 2, "two numbers a lane of each row");
    return part;
}

/* Adds row h of a by lane `row`'s four to column `column`'s. */
EMULATED_CORE static inline float cuda_mma_add(float d, const cuda_mma_part *row, int h, const cuda_mma_part *column)
{
    double terms[9] = {static_cast<double>(d)};
    bool zero_row = true, zero_column = true, finite = true;
    for (int t = 0; t < 4; t++) {
        zero_row = zero_row && row[t].zero[h];
        zero_column = zero_column && column[t].zero[2];
        finite = finite && row[t].finite[h] && column[t].finite[2];
    }
    if ((zero_row || zero_column) && finite) return d;
    for (int t = 0; t < 4; t++)
        for (int j = 0; j < 2; j++) terms[1 + 2 * t + j] = row[t].of[h][j] * column[t].of[2][j];
    return emulated_sum(terms);
}

template <typename T, int A, int B>
static inline void cuda_mma(T, float (&d)[4], const uint32_t (&a)[A], const uint32_t (&b)[B])
{
    const cuda_mma_part *all = emulated_all_of(cuda_mma_part_of<T>(a, b));
    const unsigned lane = threadIdx.x % 32;
    for (int i = 0; i < 4; i++) {
        const unsigned column = 2 * (lane % 4) + static_cast<unsigned>(i % 2);
        d[i] = cuda_mma_add(d[i], &all[lane / 4 * 4], i / 2, &all[column * 4]);
    }
}
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
static __device__ inline void cuda_mma(float, float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
static __device__ inline void cuda_mma(__half, float (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
static __device__ inline void cuda_mma(__nv_bfloat16, float (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
#else
/* Of older devices, whose kernels are compiled and refused. */
template <typename T, int A, int B>
static __device__ inline void cuda_mma(T, float (&)[4], const uint32_t (&)[A], const uint32_t (&)[B])
{
    __trap();
}
#endif

#endif
