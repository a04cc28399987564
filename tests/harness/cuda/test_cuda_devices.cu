/* Several devices, emulated: a thread whose current device is another one is served all the same. CUDA makes streams
 * and events on the current device, and takes kernels, fills and graphs only for its streams; so does the emulator. */
#include "gpu.h"
#include "harness/cuda/gemm.h"
#include "harness/cuda/launch.h"

static cnn_context *open_on(int device)
{
    const cnn_open_params params = {1, device, shared_knobs, NULL};
    cnn_context *context = NULL;
    cnn_error err;
    if (cuda_context_open(&params, sizeof(cuda_context), &context, &err) != CNN_OK) fail_msg("%s", err.message);
    return context;
}

static __global__ void add_one(float *data) { *data += 1; }

/* What a thread does that uses another device in between. */
#define ELSEWHERE(call)                                                                                                \
    do {                                                                                                               \
        assert_int_equal(cudaSetDevice(0), cudaSuccess);                                                               \
        if ((call) != CNN_OK) fail_msg(#call ": %s", err.message);                                                     \
    } while (0)

static void the_emulator_minds_the_current_device(void **)
{
    float value = 0;
    cudaStream_t stream;
    cudaEvent_t event;
    assert_int_equal(cudaSetDevice(1), cudaSuccess);
    assert_int_equal(cudaSetDevice(2), cudaErrorInvalidDevice);
    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    assert_int_equal(cudaEventCreate(&event), cudaSuccess);
    assert_int_equal(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaMemsetAsync(&value, 1, sizeof value, stream), cudaErrorInvalidResourceHandle);
    assert_int_equal(emulated_launch(1, 1, 0, stream, add_one, &value), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaSetDevice(1), cudaSuccess);
    assert_int_equal(emulated_launch(1, 1, 0, stream, add_one, &value), cudaSuccess);
    assert_true(value == 1);
    assert_int_equal(cudaEventDestroy(event), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
    (void)cudaGetLastError();
}

static void kernels_fills_and_graphs(void **)
{
    cnn_context *context = open_on(1);
    cuda_context *c = reinterpret_cast<cuda_context *>(context);
    cnn_error err;
    void *memory = NULL;
    float value = 7;
    double seconds;
    cnn_graph *graph = NULL;
    ELSEWHERE(cuda_memory.alloc(context, sizeof value, &memory, &err));
    float *data = static_cast<float *>(memory);
    ELSEWHERE(cuda_memory.upload(context, memory, &value, sizeof value, &err));
    ELSEWHERE(cuda_memory.fill(context, memory, 0, sizeof value, &err));
    ELSEWHERE(cuda_timing.start(context, &err));
    ELSEWHERE(cuda_launch(c, {"add_one", 1, 1, 0}, &err, add_one, data));
    ELSEWHERE(cuda_timing.stop(context, &seconds, &err));
    ELSEWHERE(cuda_capture.begin(context, &err));
    ELSEWHERE(cuda_launch(c, {"add_one", 1, 1, 0}, &err, add_one, data));
    ELSEWHERE(cuda_capture.end(context, &graph, &err));
    ELSEWHERE(cuda_capture.run(context, graph, &err));
    ELSEWHERE(cuda_memory.download(context, &value, memory, sizeof value, &err));
    assert_true(value == 2);
    cuda_capture.free(context, graph);
    cuda_memory.free(context, memory);
    cuda_context_close(context);
}

static void laps_and_lanes(void **)
{
    cnn_context *context = open_on(1);
    cnn_error err;
    void *memory = NULL, *host = NULL;
    double seconds;
    cnn_laps *laps = NULL;
    const cnn_lap *list;
    int count;
    ELSEWHERE(cuda_profile.open(context, &laps, &err));
    ELSEWHERE(cuda_profile.use(context, laps, &err));
    ELSEWHERE(cuda_profile.lap(context, "one", &err));
    ELSEWHERE(cuda_sync(context, &err));
    ELSEWHERE(cuda_profile.read(context, laps, &list, &count, &err));
    assert_int_equal(count, 1);
    ELSEWHERE(cuda_uploads.host_alloc(context, 64, &host, &err));
    memset(host, 1, 64);
    ELSEWHERE(cuda_memory.alloc(context, 64, &memory, &err));
    ELSEWHERE(cuda_uploads.start(context, 0, memory, host, 64, &err));
    ELSEWHERE(cuda_uploads.use(context, 0, &err));
    ELSEWHERE(cuda_uploads.drain(context, 0, &seconds, &err));
    assert_memory_equal(memory, host, 64);
    cuda_profile.close(context, laps);
    cuda_uploads.host_free(context, host);
    cuda_memory.free(context, memory);
    cuda_context_close(context);
}

static void products(void **)
{
    cnn_context *context = open_on(1);
    cuda_context *c = reinterpret_cast<cuda_context *>(context);
    const cnn_type f32 = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32};
    const cuda_gemm g = {1, 1, 1, 1, {1, 1, false}, {1, 1, false}, {1, 1, false}, 0};
    float value = 3;
    cnn_error err;
    void *memory = NULL;
    cuda_blas blas = {};
    ELSEWHERE(cuda_blas_open(c, &blas, 1 << 20, &err));
    ELSEWHERE(cuda_memory.alloc(context, 2 * sizeof value, &memory, &err));
    float *data = static_cast<float *>(memory);
    ELSEWHERE(cuda_memory.upload(context, data, &value, sizeof value, &err));
    ELSEWHERE(cuda_gemm_run(c, &blas, &f32, &g, data, data, data + 1, &err));
    ELSEWHERE(cuda_memory.download(context, &value, data + 1, sizeof value, &err));
    assert_true(value == 9);
    cuda_memory.free(context, memory);
    cuda_blas_close(&blas);
    cuda_context_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_emulator_minds_the_current_device),
        cmocka_unit_test(kernels_fills_and_graphs),
        cmocka_unit_test(laps_and_lanes),
        cmocka_unit_test(products),
    };
    if (setenv("EMULATED_CUDA_FAULT", "devices=2", 1) != 0) return EXIT_FAILURE;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
