/* The emulator itself: that it computes what a GPU would, and that it shows what a GPU may hide. */
#include "harness/cuda/platform.h"
#include "tests/unit.h"

#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

static void launch(dim3 grid, dim3 block, void (*kernel)(float *), float *data)
{
    assert_int_equal(emulated_launch(grid, block, 0, nullptr, kernel, data), cudaSuccess);
}

/* ---- Indices, barriers, shared memory */

static __global__ void count_visits(float *visits)
{
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    visits[block * blockDim.x * blockDim.y * blockDim.z + thread] += 1;
}

static void every_thread_runs_once(void **)
{
    float visits[2 * 3 * 4 * 5 * 6 * 2] = {};
    launch(dim3(2, 3, 4), dim3(5, 6, 2), count_visits, visits);
    for (float v : visits) assert_true(v == 1);
}

enum { THREADS = 70 };

static __global__ void reverse(float *data)
{
    __shared__ float shared[THREADS];
    float *mine = data + blockIdx.x * THREADS;
    for (int round = 0; round < 3; round++) {
        shared[threadIdx.x] = mine[threadIdx.x];
        __syncthreads();
        mine[threadIdx.x] = shared[THREADS - 1 - threadIdx.x];
        __syncthreads();
    }
}

static void barriers_order_a_block(void **)
{
    float data[2 * THREADS];
    for (int i = 0; i < 2 * THREADS; i++) data[i] = (float)i;
    launch(2, THREADS, reverse, data);
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < THREADS; i++) assert_true(data[b * THREADS + i] == (float)(b * THREADS + THREADS - 1 - i));
}

static __global__ void no_barrier(float *data)
{
    __shared__ float shared[THREADS];
    shared[threadIdx.x] = (float)blockIdx.x; /* a barrier is missing behind this */
    data[blockIdx.x * THREADS + threadIdx.x] = shared[threadIdx.x == 0 ? 0 : threadIdx.x - 1];
}

static void missing_barrier_shows_in_odd_blocks(void **)
{
    float data[2 * THREADS];
    launch(2, THREADS, no_barrier, data);
    assert_true(data[THREADS - 1] == 0);
    assert_false(data[2 * THREADS - 1] == 1);
}

static __global__ void read_dynamic(float *data)
{
    CUDA_DYNAMIC_SHARED(float, shared);
    data[blockIdx.x] = shared[0];
    shared[0] = 5;
}

/* What thread 0 finds, and thread 1 behind it: filled once a block, not once a thread. */
template <typename T> static __global__ void read_static(T *data)
{
    CUDA_SHARED(T, shared, [2]);
    CUDA_SHARED(T, one, );
    if (threadIdx.x == 0) {
        data[3 * blockIdx.x] = shared[1];
        data[3 * blockIdx.x + 1] = one;
        shared[1] = 5;
    }
    __syncthreads();
    if (threadIdx.x == 1) data[3 * blockIdx.x + 2] = shared[1];
    if (threadIdx.x == 1) one = 6;
}

static void fresh_memory_is_poisoned(void **)
{
    float seen[6] = {1, 1}, *memory = nullptr;
    assert_int_equal(emulated_launch(2, 1, 64, nullptr, read_dynamic, seen), cudaSuccess);
    assert_true(std::isnan(seen[0]) && std::isnan(seen[1]));
    assert_int_equal(emulated_launch(2, 2, 0, nullptr, read_static<float>, seen), cudaSuccess);
    for (int b = 0; b < 2; b++)
        assert_true(std::isnan(seen[3 * b]) && std::isnan(seen[3 * b + 1]) && seen[3 * b + 2] == 5);
    int64_t numbers[6];
    assert_int_equal(emulated_launch(2, 2, 0, nullptr, read_static<int64_t>, numbers), cudaSuccess);
    for (int b = 0; b < 2; b++)
        assert_true(numbers[3 * b] == -1 && numbers[3 * b + 1] == -1 && numbers[3 * b + 2] == 5);
    assert_int_equal(cudaMalloc(&memory, 3 * sizeof *memory), cudaSuccess);
    assert_true(std::isnan(memory[0]) && std::isnan(memory[2]));
    assert_int_equal(cudaFree(memory), cudaSuccess);
}

/* ---- Warps */

static __global__ void shuffles(float *out)
{
    const int lane = (int)threadIdx.x % warpSize;
    const float own = (float)threadIdx.x;
    float sum = own;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    float *mine = out + 8 * threadIdx.x;
    mine[0] = sum;
    mine[1] = __shfl_down_sync(0xffffffffu, own, 1);
    mine[2] = __shfl_up_sync(0xffffffffu, own, 3);
    mine[3] = __shfl_sync(0xffffffffu, own, 5, 8);
    mine[4] = (float)__popc(__ballot_sync(0xffffffffu, lane < 7));
    mine[5] = lane < 16 ? __shfl_xor_sync(0x0000ffffu, own, 1) : -1;
    mine[6] = __any_sync(0xffffffffu, lane == 9) && !__any_sync(0xffffffffu, lane > 99) ? 1 : 0;
    mine[7] = __all_sync(0xffffffffu, lane < 32) && !__all_sync(0xffffffffu, lane < 31) ? 1 : 0;
    __syncwarp();
}

static void warps_exchange_numbers(void **)
{
    float out[64][8];
    launch(1, 64, shuffles, &out[0][0]);
    for (int t = 0; t < 64; t++) {
        const int lane = t % 32, warp = t - lane;
        assert_true(out[t][0] == (float)(32 * warp + 496));
        assert_true(out[t][1] == (float)(lane < 31 ? t + 1 : t));
        assert_true(out[t][2] == (float)(lane >= 3 ? t - 3 : t));
        assert_true(out[t][3] == (float)(t / 8 * 8 + 5));
        assert_true(out[t][4] == 7);
        assert_true(out[t][5] == (float)(lane < 16 ? t ^ 1 : -1));
        assert_true(out[t][6] == 1 && out[t][7] == 1);
    }
}

static __global__ void down_by_one(float *out)
{
    out[threadIdx.x] = __shfl_down_sync(0xffffffffu, (float)threadIdx.x, 1);
}

static void lanes_that_are_not_there_give_nan(void **)
{
    float out[40];
    launch(1, 40, down_by_one, out);
    assert_true(out[38] == 39);
    assert_true(std::isnan(out[39]));
}

/* Warps that wait at different places need not wait for each other. */
static __global__ void one_warp_alone(float *out)
{
    __shared__ float shared;
    if (threadIdx.x < 32) {
        float sum = 1;
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
        if (threadIdx.x == 0) shared = sum;
    }
    __syncthreads();
    out[threadIdx.x] = shared;
}

static void one_warp_may_work_while_others_wait(void **)
{
    float out[96];
    launch(1, 96, one_warp_alone, out);
    assert_true(out[0] == 32 && out[95] == 32);
}

static __global__ void add_up(int *ints, double *real, unsigned long long *most)
{
    atomicAdd(&ints[0], 2);
    atomicMax(&ints[1], (int)threadIdx.x);
    atomicMin(&ints[2], -(int)threadIdx.x);
    if (atomicCAS(&ints[3], 0, (int)threadIdx.x + 1) == 0) atomicExch(&ints[4], (int)blockIdx.x);
    atomicAdd(real, 0.5);
    atomicMax(most, threadIdx.x);
}

static void atomics(void **)
{
    int ints[5] = {};
    double real = 0;
    unsigned long long most = 0;
    assert_int_equal(emulated_launch(3, 50, 0, nullptr, add_up, ints, &real, &most), cudaSuccess);
    assert_int_equal(ints[0], 300);
    assert_int_equal(ints[1], 49);
    assert_int_equal(ints[2], -49);
    assert_int_equal(ints[3], 1); /* the first block runs forwards */
    assert_int_equal(ints[4], 0);
    assert_true(real == 75 && most == 49);
}

/* ---- Divergence ends the program, and says where */

static __global__ void half_at_a_barrier(float *)
{
    if (threadIdx.x < 16) __syncthreads();
}

static __global__ void two_barriers(float *data)
{
    if (threadIdx.x < 16) {
        __syncthreads();
        data[0] = 1;
    } else {
        __syncthreads();
    }
}

static __global__ void a_lane_left(float *data)
{
    if (threadIdx.x == 3) return;
    data[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1.0f, 1);
}

static __global__ void out_of_the_mask(float *data) { data[threadIdx.x] = __shfl_xor_sync(0x0000ffffu, 1.0f, 1); }

static __global__ void barrier_against_warp(float *data)
{
    if (threadIdx.x < 16)
        __syncthreads();
    else
        data[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1.0f, 1);
}

static void dies_in(void (*start)(float *, void (*)(float *)), void (*kernel)(float *), const char *word)
{
    int ends[2];
    char said[1024] = "";
    float data[64] = {};
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        start(data, kernel);
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t n; used + 1 < sizeof said && (n = read(ends[0], said + used, sizeof said - 1 - used)) > 0;)
        used += (size_t)n;
    said[used] = '\0';
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) fail_msg("a diverging kernel came to its end");
    if (strstr(said, word) == nullptr || strstr(said, "test_cuda_emulator.cu:") == nullptr)
        fail_msg("'%s' lacks '%s' or the place", said, word);
}

static void one_block(float *data, void (*kernel)(float *)) { emulated_launch(1, 32, 0, nullptr, kernel, data); }
static void dies(void (*kernel)(float *), const char *word) { dies_in(one_block, kernel, word); }

static void divergence_ends_the_program(void **)
{
    dies(half_at_a_barrier, "ended");
    dies(two_barriers, "two different barriers");
    dies(a_lane_left, "a lane of the mask has ended");
    dies(out_of_the_mask, "not in its own mask");
    dies(barrier_against_warp, "wait for one another");
}

/* ---- Grids whose blocks wait for one another */

enum { GRID_ROUNDS = 3 };

/* In each round a block reads what the other one has written in the round before. */
static __global__ void pass_on(float *data)
{
    CUDA_DYNAMIC_SHARED(float, mine);
    mine[threadIdx.x] = (float)blockIdx.x;
    for (int round = 0; round < GRID_ROUNDS; round++) {
        data[(round * 2 + blockIdx.x) * blockDim.x + threadIdx.x] = mine[threadIdx.x] + 1;
        emulated_grid_barrier(__FILE__, __LINE__);
        const float other = data[(round * 2 + 1 - blockIdx.x) * blockDim.x + (blockDim.x - 1 - threadIdx.x)];
        __syncthreads();
        mine[threadIdx.x] += other;
    }
    data[blockIdx.x * blockDim.x + threadIdx.x] = mine[threadIdx.x];
}

static cudaError_t launch_together(unsigned blocks, void (*kernel)(float *), float *data)
{
    return emulated_launch(emulated_launch_shape{dim3(blocks), dim3(64), 64 * sizeof(float), nullptr, true}, kernel,
                           data);
}

static void blocks_wait_for_one_another(void **)
{
    float data[GRID_ROUNDS * 2 * 64] = {};
    assert_int_equal(launch_together(2, pass_on, data), cudaSuccess);
    float a = 0, b = 1; /* what both hold */
    for (int round = 0; round < GRID_ROUNDS; round++) {
        const float before = a;
        a += b + 1;
        b += before + 1;
    }
    for (int i = 0; i < 64; i++) assert_true(data[i] == a && data[64 + i] == b);
    assert_int_equal(launch_together(3, pass_on, data), cudaErrorCooperativeLaunchTooLarge);
}

static __global__ void half_the_grid(float *)
{
    if (blockIdx.x == 0) emulated_grid_barrier(__FILE__, __LINE__);
}

static __global__ void half_the_block(float *)
{
    if (threadIdx.x < 16) emulated_grid_barrier(__FILE__, __LINE__);
}

static __global__ void one_block_alone(float *) { emulated_grid_barrier(__FILE__, __LINE__); }

static void together(float *data, void (*kernel)(float *)) { launch_together(2, kernel, data); }

static void a_grid_that_would_hang_ends_the_program(void **)
{
    dies_in(together, half_the_grid, "a block has ended that others wait for");
    dies_in(together, half_the_block, "threads have ended that others wait for");
    dies(one_block_alone, "not cooperative");
}

/* ---- Clusters: blocks that reach each other's shared memory */

static cudaError_t launch_clusters(unsigned blocks, unsigned cluster, void (*kernel)(float *), float *data)
{
    return emulated_launch(emulated_launch_shape{dim3(blocks), dim3(64), 64 * sizeof(float), nullptr, true, cluster},
                           kernel, data);
}

/* Each block writes into the other's memory; in the end both have what the other one began with, and one more for each
 * round. */
static __global__ void swap_in_clusters(float *data)
{
    CUDA_DYNAMIC_SHARED(float, mine);
    const unsigned rank = blockIdx.x % 2, last = blockDim.x - 1;
    mine[threadIdx.x] = (float)(blockIdx.x * blockDim.x + threadIdx.x);
    for (int round = 0; round < GRID_ROUNDS; round++) {
        emulated_cluster_barrier(__FILE__, __LINE__);
        const float v = mine[threadIdx.x];
        emulated_cluster_barrier(__FILE__, __LINE__);
        *static_cast<float *>(emulated_peer_shared(mine + (last - threadIdx.x), 1 - rank)) = v + 1;
    }
    emulated_cluster_barrier(__FILE__, __LINE__);
    emulated_grid_barrier(__FILE__, __LINE__);
    data[blockIdx.x * blockDim.x + threadIdx.x] = mine[threadIdx.x];
}

/* Not cooperative, so there may be more clusters than the device has room for at once. */
static __global__ void swap_once(float *data)
{
    CUDA_DYNAMIC_SHARED(float, mine);
    mine[threadIdx.x] = (float)(blockIdx.x * blockDim.x + threadIdx.x);
    emulated_cluster_barrier(__FILE__, __LINE__);
    data[blockIdx.x * blockDim.x + threadIdx.x] =
        *static_cast<float *>(emulated_peer_shared(mine + threadIdx.x, 1 - blockIdx.x % 2));
    emulated_cluster_barrier(__FILE__, __LINE__);
}

static void clusters_come_one_after_another(void **)
{
    float data[10 * 64] = {};
    emulated_launch_shape shape = {dim3(10), dim3(64), 64 * sizeof(float), nullptr, false, 2};
    assert_int_equal(setenv("EMULATED_CUDA_FAULT", "multiprocessors=4", 1), 0);
    assert_int_equal(emulated_launch(shape, swap_once, data), cudaSuccess);
    shape.grid.x = 9;
    assert_int_equal(emulated_launch(shape, swap_once, data), cudaErrorInvalidConfiguration);
    assert_int_equal(unsetenv("EMULATED_CUDA_FAULT"), 0);
    for (int i = 0; i < 10 * 64; i++) assert_true(data[i] == (float)(i ^ 64));
}

static void clusters_share_memory(void **)
{
    float data[4 * 64] = {};
    assert_int_equal(setenv("EMULATED_CUDA_FAULT", "multiprocessors=4", 1), 0);
    assert_int_equal(launch_clusters(4, 2, swap_in_clusters, data), cudaSuccess);
    assert_int_equal(launch_clusters(3, 2, swap_in_clusters, data), cudaErrorInvalidConfiguration);
    assert_int_equal(unsetenv("EMULATED_CUDA_FAULT"), 0);
    for (int i = 0; i < 4 * 64; i++) { /* an odd number of rounds: from the other block, turned round */
        const int block = i / 64, other = block ^ 1;
        assert_true(data[i] == (float)(other * 64 + 63 - i % 64 + GRID_ROUNDS));
    }
}

static __global__ void half_the_cluster(float *)
{
    if (blockIdx.x == 0) emulated_cluster_barrier(__FILE__, __LINE__);
}

static __global__ void two_cluster_barriers(float *)
{
    if (blockIdx.x == 0)
        emulated_cluster_barrier(__FILE__, __LINE__);
    else
        emulated_cluster_barrier(__FILE__, __LINE__);
}

static __global__ void cluster_and_grid(float *)
{
    if (blockIdx.x == 0)
        emulated_cluster_barrier(__FILE__, __LINE__);
    else
        emulated_grid_barrier(__FILE__, __LINE__);
}

static __global__ void too_little_mail(float *) { emulated_hangs(4, 3, __FILE__, __LINE__); }

static void in_a_cluster(float *data, void (*kernel)(float *)) { launch_clusters(2, 2, kernel, data); }

static void a_cluster_that_would_hang_ends_the_program(void **)
{
    dies_in(in_a_cluster, half_the_cluster, "others of its cluster that do not come");
    dies_in(in_a_cluster, two_cluster_barriers, "blocks are at two different barriers");
    dies_in(in_a_cluster, cluster_and_grid, "others of its cluster that do not come");
    dies_in(in_a_cluster, too_little_mail, "for 4, and 3 have come");
}

#ifdef __SANITIZE_ADDRESS__
static __global__ void behind_device_memory(float *)
{
    float *memory = nullptr;
    cudaMalloc(&memory, 8 * sizeof *memory);
    for (int i = 0; i <= 8; i++) memory[i] = 0; /* test_cuda_emulator.cu: one too many */
}

static __global__ void behind_shared_memory(float *data)
{
    __shared__ float shared[8];
    const int past = 8 + (int)data[0];
    shared[past / 2 * 2] = 1;
    data[1] = shared[past];
}

static void overruns_are_seen(void **)
{
    dies(behind_device_memory, "heap-buffer-overflow");
    dies(behind_shared_memory, ""); /* by the address or the undefined-behaviour sanitizer */
}
#endif

/* ---- Launch limits, graphs */

static void shapes_beyond_a_device_are_refused(void **)
{
    static float data[8];
    const dim3 wrong[][2] = {{dim3(1), dim3(1025)},        {dim3(1), dim3(32, 33)},  {dim3(1), dim3(1, 1, 65)},
                             {dim3(1), dim3(0)},           {dim3(0), dim3(1)},       {dim3(1, 65536), dim3(1)},
                             {dim3(1, 1, 65536), dim3(1)}, {dim3(1u << 31), dim3(1)}};
    for (const dim3 *shape : wrong)
        assert_int_equal(emulated_launch(shape[0], shape[1], 0, nullptr, count_visits, data),
                         cudaErrorInvalidConfiguration);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    const int more = 48 * 1024 + 4;
    assert_int_equal(emulated_launch(1, 1, more, nullptr, read_dynamic, data), cudaErrorInvalidConfiguration);
    assert_int_equal(cudaFuncSetAttribute(read_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, more),
                     cudaSuccess);
    assert_int_equal(emulated_launch(1, 1, more, nullptr, read_dynamic, data), cudaSuccess);
    assert_int_equal(cudaFuncSetAttribute(read_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20),
                     cudaErrorInvalidValue);
    (void)cudaGetLastError();
}

static __global__ void add_one(float *data) { data[threadIdx.x] += 1; }

static void graphs_play_back_what_was_recorded(void **)
{
    float data[4] = {7, 7, 7, 7}, copy[4] = {};
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    assert_int_equal(emulated_launch(1, 4, 0, stream, add_one, data), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(copy, data, sizeof copy, cudaMemcpyDefault, stream), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(data, 0, sizeof data[0], stream), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    assert_true(data[0] == 7 && copy[0] == 0);
    assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    for (int i = 0; i < 3; i++) assert_int_equal(cudaGraphLaunch(exec, stream), cudaSuccess);
    assert_true(copy[0] == 1 && copy[3] == 10 && data[0] == 0 && data[3] == 10);
    assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
}

static void waiting_and_allocating_break_a_capture(void **)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    float *memory = nullptr, data[4] = {};
    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
        assert_int_equal(i == 0 ? cudaMalloc(&memory, 4) : cudaStreamSynchronize(stream),
                         cudaErrorStreamCaptureUnsupported);
        assert_int_equal(emulated_launch(1, 4, 0, stream, add_one, data), cudaErrorStreamCaptureInvalidated);
        assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    }
    assert_int_equal(emulated_launch(1, 4, 0, stream, add_one, data), cudaSuccess);
    assert_true(data[3] == 1);
    (void)cudaGetLastError();
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
}

/* ---- A second stream */

/* Two streams and two events; a copy from `from` to `to` of a number. */
struct pair_of_streams {
    cudaStream_t main, copies;
    cudaEvent_t ready, done;
    float from, to;
};

static void open_pair(pair_of_streams *p)
{
    assert_int_equal(cudaStreamCreateWithFlags(&p->main, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaStreamCreateWithFlags(&p->copies, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaEventCreateWithFlags(&p->ready, cudaEventDisableTiming), cudaSuccess);
    assert_int_equal(cudaEventCreateWithFlags(&p->done, cudaEventDisableTiming), cudaSuccess);
    p->from = 1, p->to = 0;
}

static void close_pair(pair_of_streams *p)
{
    (void)cudaGetLastError();
    assert_int_equal(cudaEventDestroy(p->ready), cudaSuccess);
    assert_int_equal(cudaEventDestroy(p->done), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(p->copies), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(p->main), cudaSuccess);
}

static void begin_copy(pair_of_streams *p)
{
    assert_int_equal(cudaEventRecord(p->ready, p->main), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(p->copies, p->ready), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(&p->to, &p->from, sizeof p->to, cudaMemcpyHostToDevice, p->copies), cudaSuccess);
    assert_int_equal(cudaEventRecord(p->done, p->copies), cudaSuccess);
}

static void copies_come_when_they_are_waited_for(void **)
{
    pair_of_streams p;
    open_pair(&p);
    for (int way = 0; way < 4; way++) {
        p.from = 1, p.to = 0;
        begin_copy(&p);
        assert_int_equal(emulated_launch(1, 1, 0, p.main, add_one, &p.from), cudaSuccess); /* which is a mistake */
        assert_true(p.from == 2 && p.to == 0);
        if (way == 0) assert_int_equal(cudaStreamWaitEvent(p.main, p.done), cudaSuccess);
        if (way == 1) assert_int_equal(cudaEventSynchronize(p.done), cudaSuccess);
        if (way == 3) assert_int_equal(cudaMemsetAsync(&p.from, 0, 0, p.copies), cudaSuccess); /* behind it */
        if (way >= 2) assert_int_equal(cudaStreamSynchronize(p.copies), cudaSuccess);
        assert_true(p.to == 2);
    }
    close_pair(&p);
}

/* Whoever waits for the stream alone has waited for nothing beside it. */
static void a_stream_does_not_wait_for_another(void **)
{
    pair_of_streams p;
    open_pair(&p);
    begin_copy(&p);
    assert_int_equal(cudaStreamSynchronize(p.main), cudaSuccess);
    assert_true(p.to == 0);
    close_pair(&p);
    assert_true(p.to == 1);
}

static void a_capture_forks_and_joins(void **)
{
    pair_of_streams p;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    open_pair(&p);
    assert_int_equal(cudaStreamBeginCapture(p.main, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    begin_copy(&p);
    assert_int_equal(cudaStreamWaitEvent(p.main, p.done), cudaSuccess);
    assert_int_equal(emulated_launch(1, 1, 0, p.main, add_one, &p.to), cudaSuccess);
    assert_true(p.to == 0);
    assert_int_equal(cudaStreamEndCapture(p.main, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&exec, graph), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    for (int i = 0; i < 2; i++) {
        p.from = (float)(10 * i + 1);
        assert_int_equal(cudaGraphLaunch(exec, p.main), cudaSuccess);
        assert_true(p.to == p.from + 1);
    }
    begin_copy(&p); /* both streams are as they were */
    assert_int_equal(cudaEventSynchronize(p.done), cudaSuccess);
    assert_true(p.to == 11);
    assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
    close_pair(&p);
}

static __global__ void copy_number(float *to, const float *from) { *to = *from; }

/* `from` to `to` and on to *last, by two kernels of a stream that begins with a wait. */
static void begin_kernels(pair_of_streams *p, float *last)
{
    assert_int_equal(cudaEventRecord(p->ready, p->main), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(p->copies, p->ready), cudaSuccess);
    assert_int_equal(emulated_launch(1, 1, 0, p->copies, copy_number, &p->to, &p->from), cudaSuccess);
    assert_int_equal(emulated_launch(1, 1, 0, p->copies, copy_number, last, &p->to), cudaSuccess);
    assert_int_equal(cudaEventRecord(p->done, p->copies), cudaSuccess);
}

/* All of them, or all but the last one: both happen, and nothing else does. Somebody uses `to` in between. */
static void kernels_of_a_fork_come_late(void **)
{
    pair_of_streams p;
    int late = 0, between = 0;
    open_pair(&p);
    for (int i = 0; i < 20; i++) {
        float last = 0;
        p.from = 1, p.to = 0;
        begin_kernels(&p, &last);
        assert_true(last == 0 && (p.to == 0 || p.to == 1));
        (p.to == 0 ? late : between)++;
        p.from = 2;
        const bool began = p.to == 1;
        p.to = 3; /* both are mistakes */
        assert_int_equal(cudaStreamWaitEvent(p.main, p.done), cudaSuccess);
        assert_true(last == (began ? 3 : 2));
    }
    assert_true(late > 3 && between > 3);
    close_pair(&p);
}

static void a_fork_is_captured(void **)
{
    pair_of_streams p;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    float last = 0;
    open_pair(&p);
    for (int i = 0; i < 2; i++) { /* at first nobody joins it */
        assert_int_equal(cudaStreamBeginCapture(p.main, cudaStreamCaptureModeThreadLocal), cudaSuccess);
        begin_kernels(&p, &last);
        if (i == 1) assert_int_equal(cudaStreamWaitEvent(p.main, p.done), cudaSuccess);
        assert_int_equal(cudaStreamEndCapture(p.main, &graph), i == 1 ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
        (void)cudaGetLastError();
    }
    assert_true(last == 0);
    assert_int_equal(cudaGraphInstantiate(&exec, graph), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    for (int i = 1; i < 9; i++) {
        p.from = (float)i;
        assert_int_equal(cudaGraphLaunch(exec, p.main), cudaSuccess);
        assert_true(last == (float)i);
    }
    assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
    close_pair(&p);
}

/* A branch that is not joined, an event from outside, one of a capture that is over. */
static void a_capture_is_closed(void **)
{
    pair_of_streams p;
    cudaGraph_t graph = nullptr;
    open_pair(&p);
    assert_int_equal(cudaStreamBeginCapture(p.main, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    begin_copy(&p);
    assert_int_equal(cudaStreamEndCapture(p.copies, &graph), cudaErrorStreamCaptureUnmatched);
    assert_int_equal(cudaStreamEndCapture(p.main, &graph), cudaErrorStreamCaptureUnjoined);
    assert_null(graph);
    assert_int_equal(cudaStreamWaitEvent(p.main, p.done), cudaErrorCapturedEvent);
    begin_copy(&p);
    assert_int_equal(cudaStreamBeginCapture(p.main, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(p.main, p.done), cudaErrorStreamCaptureIsolation);
    assert_int_equal(cudaStreamEndCapture(p.main, &graph), cudaErrorStreamCaptureInvalidated);
    assert_null(graph);
    close_pair(&p);
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_runs_once),
        cmocka_unit_test(barriers_order_a_block),
        cmocka_unit_test(missing_barrier_shows_in_odd_blocks),
        cmocka_unit_test(fresh_memory_is_poisoned),
        cmocka_unit_test(warps_exchange_numbers),
        cmocka_unit_test(lanes_that_are_not_there_give_nan),
        cmocka_unit_test(one_warp_may_work_while_others_wait),
        cmocka_unit_test(atomics),
        cmocka_unit_test(divergence_ends_the_program),
        cmocka_unit_test(blocks_wait_for_one_another),
        cmocka_unit_test(a_grid_that_would_hang_ends_the_program),
        cmocka_unit_test(clusters_share_memory),
        cmocka_unit_test(clusters_come_one_after_another),
        cmocka_unit_test(a_cluster_that_would_hang_ends_the_program),
#ifdef __SANITIZE_ADDRESS__
        cmocka_unit_test(overruns_are_seen),
#endif
        cmocka_unit_test(shapes_beyond_a_device_are_refused),
        cmocka_unit_test(graphs_play_back_what_was_recorded),
        cmocka_unit_test(waiting_and_allocating_break_a_capture),
        cmocka_unit_test(copies_come_when_they_are_waited_for),
        cmocka_unit_test(kernels_of_a_fork_come_late),
        cmocka_unit_test(a_fork_is_captured),
        cmocka_unit_test(a_stream_does_not_wait_for_another),
        cmocka_unit_test(a_capture_forks_and_joins),
        cmocka_unit_test(a_capture_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
