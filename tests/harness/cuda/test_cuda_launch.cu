/* The shared CUDA core, on a GPU or emulated: launches, memory, graphs, and what becomes of errors. */
#include "gpu.h"
#include "harness/cuda/launch.h"

static cuda_context *open_context(int64_t sync_launches)
{
    int64_t knobs[CUDA_KNOB_COUNT];
    memcpy(knobs, shared_knobs, sizeof knobs);
    knobs[CUDA_KNOB_SYNC_LAUNCHES] = sync_launches;
    const cnn_open_params params = {1, 0, knobs, NULL};
    cnn_context *context = NULL;
    cnn_error err;
    if (cuda_context_open(&params, sizeof(cuda_context), &context, &err) != CNN_OK) fail_msg("%s", err.message);
    return reinterpret_cast<cuda_context *>(context);
}

static cnn_context *base(cuda_context *c) { return reinterpret_cast<cnn_context *>(c); }

template <typename T> static __global__ void add(T *data, int64_t count, T value)
{
    for (CUDA_GRID_STRIDE(i, count)) data[i] += value;
}

static __global__ void through_shared(int *data, int count)
{
    CUDA_DYNAMIC_SHARED(int, shared);
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) shared[i] = i;
    __syncthreads();
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) data[i] = shared[count - 1 - i];
}

static void grid_stride_covers_every_element(void **)
{
    enum { COUNT = 100003 };
    static double host[COUNT];
    cuda_context *c = open_context(0);
    cnn_error err;
    void *memory = NULL;
    double seconds = -1;
    assert_int_equal(cuda_memory.alloc(base(c), sizeof host, &memory, &err), CNN_OK);
    assert_int_equal(cuda_memory.fill(base(c), memory, 0, sizeof host, &err), CNN_OK);
    const cuda_shape shape = cuda_shape_1d(c, "add", COUNT, 64, 1);
    assert_true(shape.block.x == 64 && shape.grid.x <= (unsigned)c->properties.multiProcessorCount);
    assert_int_equal(cuda_timing.start(base(c), &err), CNN_OK);
    assert_int_equal(cuda_launch(c, shape, &err, add<double>, static_cast<double *>(memory), COUNT, 3), CNN_OK);
    assert_int_equal(cuda_timing.stop(base(c), &seconds, &err), CNN_OK);
    assert_true(seconds >= 0);
    assert_int_equal(cuda_memory.download(base(c), host, memory, sizeof host, &err), CNN_OK);
    for (double value : host) assert_true(value == 3);
    cuda_memory.free(base(c), memory);
    cuda_context_close(base(c));
}

static void shared_memory_is_asked_for(void **)
{
    enum { COUNT = 20000 }; /* 80 kB: more than a block has without asking */
    static int host[COUNT];
    cuda_context *c = open_context(0);
    cnn_error err;
    void *memory = NULL;
    const cuda_shape shape = {"through_shared", 1, 128, sizeof host};
    assert_int_equal(cuda_memory.alloc(base(c), sizeof host, &memory, &err), CNN_OK);
    assert_int_equal(cuda_launch(c, shape, &err, through_shared, static_cast<int *>(memory), COUNT), CNN_OK);
    assert_int_equal(cuda_memory.download(base(c), host, memory, sizeof host, &err), CNN_OK);
    for (int i = 0; i < COUNT; i++) assert_int_equal(host[i], COUNT - 1 - i);
    cuda_memory.free(base(c), memory);
    cuda_context_close(base(c));
}

static void wrong_shapes_are_refused(void **)
{
    cuda_context *c = open_context(0);
    cnn_error err;
    const cuda_shape wrong[] = {{"wide", 1, dim3(1025), 0},      {"square", 1, dim3(64, 64), 0},
                                {"deep", 1, dim3(1, 1, 65), 0},  {"empty", 0, 32, 0},
                                {"high", dim3(1, 65536), 32, 0}, {"greedy", 1, 32, (size_t)1 << 20}};
    for (const cuda_shape &shape : wrong) {
        assert_int_equal(cuda_launch(c, shape, &err, add<float>, nullptr, 0, 0), CNN_BAD_ARGUMENT);
        assert_message(err, shape.kernel);
        assert_message(err, "the device allows");
    }
    assert_int_equal(cuda_launch(c, {"add", 1, 32, 0}, &err, add<float>, nullptr, 0, 0), CNN_OK);
    assert_int_equal(cuda_sync(base(c), &err), CNN_OK);
    cuda_context_close(base(c));
}

static void bad_devices_are_named(void **)
{
    const cnn_open_params params = {1, 99, shared_knobs, NULL};
    cnn_context *context = NULL;
    cnn_error err;
    assert_int_equal(cuda_context_open(&params, sizeof(cuda_context), &context, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "device 99");
    assert_null(context);
}

static void too_much_memory_is_counted(void **)
{
    cuda_context *c = open_context(0);
    cnn_error err;
    void *memory = NULL;
    const size_t much = (size_t)1 << 50;
    assert_int_equal(cuda_memory.alloc(base(c), much, &memory, &err), CNN_OUT_OF_MEMORY);
    assert_message(err, "1125899906842624 bytes needed");
    assert_message(err, "are free");
    assert_int_equal(cuda_uploads.host_alloc(base(c), much, &memory, &err), CNN_OUT_OF_MEMORY);
    assert_message(err, "1125899906842624 bytes of page-locked host memory");
    assert_int_equal(cuda_memory.alloc(base(c), 64, &memory, &err), CNN_OK);
    cuda_memory.free(base(c), memory);
    cuda_context_close(base(c));
}

static void graphs_are_replayed(void **)
{
    cuda_context *c = open_context(0);
    cnn_error err;
    void *memory = NULL;
    cnn_graph *graph = NULL;
    float value = 0;
    assert_int_equal(cuda_memory.alloc(base(c), sizeof value, &memory, &err), CNN_OK);
    assert_int_equal(cuda_memory.upload(base(c), memory, &value, sizeof value, &err), CNN_OK);
    assert_int_equal(cuda_capture.begin(base(c), &err), CNN_OK);
    const cuda_shape shape = {"add", 1, 1, 0};
    assert_int_equal(cuda_launch(c, shape, &err, add<float>, static_cast<float *>(memory), 1, 2), CNN_OK);
    assert_int_equal(cuda_capture.end(base(c), &graph, &err), CNN_OK);
    for (int i = 0; i < 5; i++) assert_int_equal(cuda_capture.run(base(c), graph, &err), CNN_OK);
    assert_int_equal(cuda_memory.download(base(c), &value, memory, sizeof value, &err), CNN_OK);
    assert_true(value == 10);
    cuda_capture.free(base(c), graph);
    cuda_memory.free(base(c), memory);
    cuda_context_close(base(c));
}

/* The knob sync_launches is for who asks which kernel fails: replays could not tell. */
static void launches_that_are_waited_for_are_not_captured(void **)
{
    cuda_context *c = open_context(1);
    cnn_error err;
    assert_int_equal(cuda_capture.begin(base(c), &err), CNN_UNSUPPORTED);
    assert_message(err, "sync_launches=1");
    assert_int_equal(cuda_launch(c, {"add", 1, 1, 0}, &err, add<float>, nullptr, 0, 2), CNN_OK);
    assert_int_equal(cuda_sync(base(c), &err), CNN_OK);
    cuda_context_close(base(c));
}

/* Two kernels, then the end of the operation. */
static void three_laps(cuda_context *c, cnn_laps *laps, float *memory)
{
    cnn_error err;
    assert_int_equal(cuda_profile.use(base(c), laps, &err), CNN_OK);
    assert_int_equal(cuda_launch(c, {"first", 1, 1, 0}, &err, add<float>, memory, 1, 2), CNN_OK);
    assert_int_equal(cuda_launch(c, {"second", 1, 1, 0}, &err, add<float>, memory, 1, 2), CNN_OK);
    assert_int_equal(cuda_profile.lap(base(c), "", &err), CNN_OK);
    assert_int_equal(cuda_profile.use(base(c), NULL, &err), CNN_OK);
    assert_int_equal(cuda_launch(c, {"unmarked", 1, 1, 0}, &err, add<float>, memory, 1, 0), CNN_OK);
    assert_int_equal(cuda_profile.lap(base(c), "nobody's", &err), CNN_OK);
}

static void expect_laps(cuda_context *c, cnn_laps *laps)
{
    cnn_error err;
    const cnn_lap *list = NULL;
    int count = 0;
    assert_int_equal(cuda_sync(base(c), &err), CNN_OK);
    if (cuda_profile.read(base(c), laps, &list, &count, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_int_equal(count, 3);
    assert_string_equal(list[0].phase, "first");
    assert_string_equal(list[1].phase, "second");
    assert_string_equal(list[2].phase, "");
    for (int i = 0; i < 3; i++) assert_true(list[i].seconds >= 0 && list[i].seconds < 60);
}

static void laps_are_of_the_kernels(void **)
{
    cuda_context *c = open_context(0);
    cnn_error err;
    void *memory = NULL;
    cnn_graph *graph = NULL;
    cnn_laps *captured = NULL, *plain = NULL;
    float value = 0;
    assert_int_equal(cuda_profile.open(base(c), &captured, &err), CNN_OK);
    assert_int_equal(cuda_profile.open(base(c), &plain, &err), CNN_OK);
    assert_int_equal(cuda_memory.alloc(base(c), sizeof value, &memory, &err), CNN_OK);
    assert_int_equal(cuda_memory.upload(base(c), memory, &value, sizeof value, &err), CNN_OK);
    assert_int_equal(cuda_capture.begin(base(c), &err), CNN_OK);
    three_laps(c, captured, static_cast<float *>(memory));
    if (cuda_capture.end(base(c), &graph, &err) != CNN_OK) fail_msg("%s", err.message);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cuda_capture.run(base(c), graph, &err), CNN_OK);
        three_laps(c, plain, static_cast<float *>(memory));
        expect_laps(c, captured);
        expect_laps(c, plain);
    }
    assert_int_equal(cuda_memory.download(base(c), &value, memory, sizeof value, &err), CNN_OK);
    assert_true(value == 16);
    cuda_capture.free(base(c), graph);
    cuda_profile.close(base(c), captured);
    cuda_profile.close(base(c), plain);
    cuda_memory.free(base(c), memory);
    cuda_context_close(base(c));
}

static void broken_capture_leaves_the_context_usable(void **)
{
    cuda_context *c = open_context(0);
    cnn_error err;
    void *memory = NULL;
    cnn_graph *graph = NULL;
    assert_int_equal(cuda_capture.begin(base(c), &err), CNN_OK);
    assert_int_equal(cuda_sync(base(c), &err), CNN_DEVICE);
    assert_int_equal(cuda_capture.end(base(c), &graph, &err), CNN_DEVICE);
    assert_message(err, "cudaStreamEndCapture");
    assert_null(graph);
    assert_false(c->dead);
    assert_int_equal(cuda_memory.alloc(base(c), 64, &memory, &err), CNN_OK);
    assert_int_equal(cuda_memory.fill(base(c), memory, 0, 64, &err), CNN_OK);
    assert_int_equal(cuda_sync(base(c), &err), CNN_OK);
    cuda_memory.free(base(c), memory);
    cuda_context_close(base(c));
}

/* What is said of the kernel: one after a wait was not in the graph replayed before it. Errors are made up. */
static void replays_name_no_kernel(void **)
{
    for (int waited = 0; waited < 2; waited++) {
        cuda_context *c = open_context(0);
        cnn_error err;
        cnn_graph *graph = NULL;
        assert_int_equal(cuda_capture.begin(base(c), &err), CNN_OK);
        assert_int_equal(cuda_launch(c, {"innocent", 1, 1, 0}, &err, add<float>, nullptr, 0, 2), CNN_OK);
        assert_int_equal(cuda_capture.end(base(c), &graph, &err), CNN_OK);
        assert_int_equal(cuda_capture.run(base(c), graph, &err), CNN_OK);
        if (waited) assert_int_equal(cuda_sync(base(c), &err), CNN_OK);
        assert_int_equal(CUDA_CHECK(c, cudaErrorIllegalAddress, &err), CNN_DEVICE);
        assert_message(err, waited ? "the latest kernel was innocent" : "a replayed step");
        assert_true((strstr(err.message, "sync_launches=1") == NULL) == (waited == 1));
        cuda_capture.free(base(c), graph);
        cuda_context_close(base(c));
    }
}

static void all_sticky_errors_end_the_context(void **)
{
    static const int sticky[] = {214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 999},
                     others[] = {1, 2, 9, 400, 600, 701, 801, 900, 901};
    cnn_error err;
    for (const int error : sticky) {
        cuda_context *c = open_context(0);
        assert_int_equal(CUDA_CHECK(c, static_cast<cudaError_t>(error), &err), CNN_DEVICE);
        if (!c->dead) fail_msg("error %d leaves the context alive", error);
        cuda_context_close(base(c));
    }
    cuda_context *c = open_context(0);
    for (const int error : others) {
        assert_int_not_equal(CUDA_CHECK(c, static_cast<cudaError_t>(error), &err), CNN_OK);
        if (c->dead) fail_msg("error %d ends the context", error);
        if (strcspn(err.message, "(") < strcspn(err.message, ":")) fail_msg("C++ in words: %s", err.message);
    }
    cuda_context_close(base(c));
}

/* The error is made up: a real one would end this process's use of the device, and the other tests with it. */
static void sticky_errors_end_the_context(void **)
{
    cuda_context *c = open_context(0);
    cnn_error err;
    void *memory = NULL;
    const cuda_shape shape = {"culprit", 1, 32, 0};
    assert_int_equal(cuda_launch(c, shape, &err, add<float>, nullptr, 0, 0), CNN_OK);
    assert_int_equal(CUDA_CHECK(c, cudaErrorInvalidValue, &err), CNN_DEVICE);
    assert_false(c->dead);
    assert_int_equal(CUDA_CHECK(c, cudaErrorIllegalAddress, &err), CNN_DEVICE);
    assert_true(c->dead);
    for (int i = 0; i < 3; i++) {
        if (i == 0) assert_int_equal(cuda_launch(c, shape, &err, add<float>, nullptr, 0, 0), CNN_DEVICE);
        if (i == 1) assert_int_equal(cuda_memory.alloc(base(c), 64, &memory, &err), CNN_DEVICE);
        if (i == 2) assert_int_equal(cuda_sync(base(c), &err), CNN_DEVICE);
        assert_message(err, "cudaErrorIllegalAddress");
        assert_message(err, "culprit");
    }
    cuda_context_close(base(c));
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grid_stride_covers_every_element),
        cmocka_unit_test(shared_memory_is_asked_for),
        cmocka_unit_test(wrong_shapes_are_refused),
        cmocka_unit_test(bad_devices_are_named),
        cmocka_unit_test(too_much_memory_is_counted),
        cmocka_unit_test(graphs_are_replayed),
        cmocka_unit_test(launches_that_are_waited_for_are_not_captured),
        cmocka_unit_test(replays_name_no_kernel),
        cmocka_unit_test(all_sticky_errors_end_the_context),

        cmocka_unit_test(laps_are_of_the_kernels),
        cmocka_unit_test(broken_capture_leaves_the_context_usable),
        cmocka_unit_test(sticky_errors_end_the_context),
    };
    const int skip = gpu_or_skip();
    return skip != 0 ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
