/* asm.h: what the kernels ask of the hardware beyond C++: copies that run beside the threads, barriers in shared
 * memory, products of the tensor cores (PTX ISA 8.0: cp.async, mbarrier, ldmatrix, wgmma; compute capability 9.0a). One
 * function each; emulated.h has the same ones for the host. Shared memory goes by its address in 32 bits. */
#ifndef IMPL_CUDA_TENSOR_ASM_H
#define IMPL_CUDA_TENSOR_ASM_H

#include "harness/cuda/real.h"

#ifdef BENCHCNN_CUDA_EMULATED
#include "impl_cuda_tensor/emulated.h"
#else

#include <cuda.h> /* CUtensorMap */

/* ---- Shared memory by address */

template <typename T> static __device__ inline T *at_address(uint32_t address)
{
    return static_cast<T *>(__cvta_shared_to_generic(address));
}
/* The first address that divides by 1024, as swizzled tiles want it. */
static __device__ inline uint32_t first_address()
{
    extern __shared__ __align__(16) unsigned char cuda_shared_bytes[];
    return (static_cast<uint32_t>(__cvta_generic_to_shared(cuda_shared_bytes)) + 1023) & ~1023u;
}
static __device__ inline void load4(uint32_t (&v)[4], uint32_t a)
{
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(a)
                 : "memory");
}
static __device__ inline void load2(uint32_t &v, uint32_t &w, uint32_t a)
{
    asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v), "=r"(w) : "r"(a) : "memory");
}
static __device__ inline void store4(uint32_t a, const uint32_t (&v)[4])
{
    asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(a), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                 : "memory");
}
static __device__ inline void store1(uint32_t a, uint32_t v)
{
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(a), "r"(v) : "memory");
}
/* Four matrices of 8 x 8 numbers of 16 bits; lane i brings the address of row i%8 of matrix i/8. v[m] gets two numbers
 * of matrix m, which are column lane/4 of its rows 2*(lane%4) and the next. */
static __device__ inline void load_columns(uint32_t *v, uint32_t a)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(a)
                 : "memory");
}
/* 2 or 4 neighbours in global memory, by one store, which the compiler might take apart. */
template <int N> static __device__ inline void store_global(float *to, const float *v)
{
    static_assert(N == 2 || N == 4, "8 or 16 bytes");
    if constexpr (N == 4)
        asm volatile("st.global.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(to), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3])
                     : "memory");
    else
        asm volatile("st.global.v2.f32 [%0], {%1,%2};" ::"l"(to), "f"(v[0]), "f"(v[1]) : "memory");
}

/* ---- Numbers */

/* x, and 0 where it is below; a NaN comes through. */
static __device__ inline float positive_part(float x)
{
    float y;
    asm("max.NaN.f32 %0, %1, 0f00000000;" : "=f"(y) : "f"(x));
    return y;
}

/* ---- Barriers */

/* Of 8 bytes: a phase ends when `count` threads have arrived, and the bytes that they expect. Phases count modulo 2. */
static __device__ inline void barrier_init(uint32_t barrier, int count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
static __device__ inline void barriers_are_made() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
/* Until the phase of this parity has ended. */
static __device__ inline void barrier_wait(uint32_t barrier, int parity)
{
    asm volatile(
        "{\n.reg .pred p;\nL: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@p bra D;\nbra L;\nD:\n}" ::"r"(
            barrier),
        "r"(parity)
        : "memory");
}
static __device__ inline void barrier_arrive(uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}
static __device__ inline void barrier_expect(uint32_t barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/* Arrives once this thread's copies so far have. */
static __device__ inline void barrier_arrive_after_copies(uint32_t barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}
/* Among `threads` threads of the block, whole warps; `id` from 1 to 15. */
static __device__ inline void barrier_of(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
/* All threads of the cluster's blocks; what they stored before is seen behind it. */
static __device__ inline void cluster_barrier()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
/* 16 bytes at this address of another block of the cluster. */
static __device__ inline float4 load_of_block(uint32_t address, int32_t rank)
{
    float4 v;
    asm volatile("{\n.reg .u32 there;\nmapa.shared::cluster.u32 there, %4, %5;\n"
                 "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n}"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(address), "r"(rank)
                 : "memory");
    return v;
}
/* In global memory, between blocks. */
static __device__ inline void flag_set(unsigned *flag)
{
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}
static __device__ inline void flag_wait(const unsigned *flag)
{
    unsigned set;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(set) : "l"(flag) : "memory");
    while (set == 0);
}

/* ---- Copies from global to shared memory */

/* 16 bytes, of which the first `bytes` (0 or 16) are read and the others become 0. */
static __device__ inline void copy16(uint32_t to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
static __device__ inline void copy4(uint32_t to, const void *from, int bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
static __device__ inline void copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/* Until no more than N of this thread's groups are under way. */
template <int N> static __device__ inline void copies_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
/* By one thread; `barrier` gets the bytes. */
static __device__ inline void copy_bulk(uint32_t to, const void *from, int bytes, uint32_t barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}
/* Where a matrix lies, for copy_box(); its kernel has it as a __grid_constant__ parameter. */
typedef CUtensorMap tensor_map;
/* A box of the matrix, 64 rows of 64 numbers of 16 bits, from this row and column on, as a tile of swizzled rows; what
 * is outside of the matrix is 0. By one thread; `barrier` gets 8192 bytes. */
static __device__ inline void copy_box(uint32_t to, const tensor_map &map, int32_t row, int32_t column,
                                       uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
                 "[%4];" ::"r"(to),
                 "l"(reinterpret_cast<uint64_t>(&map)), "r"(column), "r"(row), "r"(barrier)
                 : "memory");
}
/* The same of a map of images [n][row][column][channel]: `columns` pixels of a row (as the map was made for), 64
 * channels each; `barrier` gets 128 bytes a pixel. The first may lie outside, too. */
static __device__ inline void copy_line(uint32_t to, const tensor_map &map, int32_t n, int32_t row, int32_t column,
                                        int32_t channel, uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, "
                 "%5}], [%6];" ::"r"(to),
                 "l"(reinterpret_cast<uint64_t>(&map)), "r"(channel), "r"(column), "r"(row), "r"(n), "r"(barrier)
                 : "memory");
}
/* What one tap of a convolution reads, of a map that map_taps() made: of so many output pixels, from the one on whose
 * window's corner is (row, column) of image n, the pixel `down` and `right` of there, 64 channels each. Rows and
 * images follow as the output's do; what is outside of an image is 0. `barrier` gets 128 bytes a pixel. */
static __device__ inline void copy_tap(uint32_t to, const tensor_map &map, int32_t n, int32_t row, int32_t column,
                                       int32_t channel, int32_t down, int32_t right, uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
                 "%3, %4, %5}], [%6], {%7, %8};" ::"r"(to),
                 "l"(reinterpret_cast<uint64_t>(&map)), "r"(channel), "r"(column), "r"(row), "r"(n), "r"(barrier),
                 "h"(static_cast<uint16_t>(right)), "h"(static_cast<uint16_t>(down))
                 : "memory");
}
/* What this thread stored, the tensor cores may read. */
static __device__ inline void stores_to_products() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/* ---- Products: a warpgroup's D[64][N] += A[64][K] * B[N][K]'. K numbers are 32 bytes: 8 of f32, cut to TF32, or 16 of
 * f16 or bf16. Sums are f32, cut as well. */

static __device__ inline void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
static __device__ inline void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/* Until no more than N groups are under way. */
template <int N> static __device__ inline void products_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
/* Keeps the compiler from moving what it does with these registers across this place. */
template <int N> static __device__ inline void pin(float (&r)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++) asm volatile("" : "+f"(r[i])::"memory");
}
template <int N> static __device__ inline void pin(uint32_t (&r)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++) asm volatile("" : "+r"(r[i])::"memory");
}

#define F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define F32 F4(0), F4(4), F4(8), F4(12), F4(16), F4(20), F4(24), F4(28)
#define F64 F32, F4(32), F4(36), F4(40), F4(44), F4(48), F4(52), F4(56), F4(60)
#define D32                                                                                                            \
    "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,"   \
    "%30,%31"
#define D64                                                                                                            \
    D32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,"    \
        "%58,%59,%60,%61,%62,%63"
/* A is in registers; `b`: tile_descriptor() of its first K. add 0: D = A*B'. The first argument says which numbers. */
#define MULTIPLY(name, T, kind, last)                                                                                  \
    static __device__ inline void name(T, float(&d)[32], const uint32_t *a, uint64_t b, int add)                       \
    {                                                                                                                  \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\nwgmma.mma_async.sync.aligned.m64n64" kind " {" D32     \
                     "}, {%32,%33,%34,%35}, %36, p, 1, 1" last ";\n}"                                                  \
                     : F32                                                                                             \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));                                  \
    }                                                                                                                  \
    static __device__ inline void name(T, float(&d)[64], const uint32_t *a, uint64_t b, int add)                       \
    {                                                                                                                  \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\nwgmma.mma_async.sync.aligned.m64n128" kind " {" D64    \
                     "}, {%64,%65,%66,%67}, %68, p, 1, 1" last ";\n}"                                                  \
                     : F64                                                                                             \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));                                  \
    }
MULTIPLY(multiply, float, "k8.f32.tf32.tf32", "")
MULTIPLY(multiply, __half, "k16.f32.f16.f16", ", 0")
MULTIPLY(multiply, __nv_bfloat16, "k16.f32.bf16.bf16", ", 0")
/* B lies as [K][N]: rows of 64 numbers. */
MULTIPLY(multiply_by_rows, __half, "k16.f32.f16.f16", ", 1")
MULTIPLY(multiply_by_rows, __nv_bfloat16, "k16.f32.bf16.bf16", ", 1")
#undef MULTIPLY
/* A is in shared memory, too: 64 rows of K, a row each; or, as B of multiply_by_rows, [K][64]. */
#define MULTIPLY(name, T, kind, a_lies, b_lies)                                                                        \
    static __device__ inline void name(T, float(&d)[32], uint64_t a, uint64_t b, int add)                              \
    {                                                                                                                  \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64" kind " {" D32     \
                     "}, %32, %33, p, 1, 1, " a_lies ", " b_lies ";\n}"                                                \
                     : F32                                                                                             \
                     : "l"(a), "l"(b), "r"(add));                                                                      \
    }                                                                                                                  \
    static __device__ inline void name(T, float(&d)[64], uint64_t a, uint64_t b, int add)                              \
    {                                                                                                                  \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\nwgmma.mma_async.sync.aligned.m64n128" kind " {" D64    \
                     "}, %64, %65, p, 1, 1, " a_lies ", " b_lies ";\n}"                                                \
                     : F64                                                                                             \
                     : "l"(a), "l"(b), "r"(add));                                                                      \
    }
MULTIPLY(multiply_shared, __half, "k16.f32.f16.f16", "0", "0")
MULTIPLY(multiply_shared, __nv_bfloat16, "k16.f32.bf16.bf16", "0", "0")
MULTIPLY(multiply_shared_by_rows, __half, "k16.f32.f16.f16", "0", "1")
MULTIPLY(multiply_shared_by_rows, __nv_bfloat16, "k16.f32.bf16.bf16", "0", "1")
MULTIPLY(multiply_shared_rows, __half, "k16.f32.f16.f16", "1", "1")
MULTIPLY(multiply_shared_rows, __nv_bfloat16, "k16.f32.bf16.bf16", "1", "1")
#undef MULTIPLY
#undef F4
#undef F32
#undef F64
#undef D32
#undef D64

/* ---- Kernels that overlap (cuda_shape.overlaps) */

/* The next kernel may start. */
static __device__ inline void next_may_start() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
/* What the kernel before wrote is there. */
static __device__ inline void wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/* What all lanes of a warp have alike, so that the compiler knows it: descriptors are made in its uniform registers. */
static __device__ inline int32_t same_in_warp(int32_t v) { return __shfl_sync(0xffffffffu, v, 0); }

/* ---- Registers: how many a thread of this warpgroup may have from here on */
#define REGISTERS_LESS(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n))
#define REGISTERS_MORE(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n))

#endif

/* ---- Rings */

/* A buffer of a ring, and the parity of its round, as barrier_wait() takes it. */
struct ring_place {
    int32_t at, parity;
    __device__ inline void next(int32_t size)
    {
        if (++at == size) at = 0, parity ^= 1;
    }
};

/* ---- Numbers */

/* B's tile in shared memory: rows of 128 bytes, 8 of them swizzled (the 16 bytes at place c of row n stand at c ^ n%8);
 * the tile's address divides by 1024. The next K numbers are at +2; those of multiply_by_rows, 16 rows, at +128. */
static __device__ inline uint64_t tile_descriptor(uint32_t address, uint64_t apart = 1)
{
    return static_cast<uint64_t>((address >> 4) & 0x3FFF) | (apart << 16) | (64ull << 32) | (1ull << 62);
}

/* Rows of 64 numbers, of which a row of B has 128: the second 64 are a tile of their own, 8192 bytes further. */
static __device__ inline uint64_t rows_descriptor(uint32_t address) { return tile_descriptor(address, 512); }

/* f32 in two numbers of TF32 (11 bits): v is hi + lo to 2^-23. The tensor cores cut what they get, so it is rounded
 * here: hi's last 13 bits are ignored there, and taken off here. */
static __device__ inline uint32_t high_part(uint32_t v) { return v + 0x1000u; }
static __device__ inline uint32_t low_part(uint32_t v)
{
    return __float_as_uint(__uint_as_float(v) - __uint_as_float((v + 0x1000u) & 0xffffe000u));
}

#endif
