/* test_cpu_whole.c: integers: every kernel and any number of threads give the bits of the defining loops.
 *
 * Sums are exact, and scales are powers of two, so that no order of additions and no fused product shows. */
#include "cpu_conv.h"

#include "harness/cpu/limits.h"

static const shape shapes[] = {
    {"one of all", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"3x3, half a quad, a lane more than a panel", 1, 2, 6, 7, 9, 33, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"3x3, whole quads and panels", 1, 2, 68, 6, 5, 64, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"3x3 without padding", 1, 2, 8, 7, 9, 32, 3, 3, 1, 1, 0, 0, 0, 0, 0, 0},
    {"groups, strides, dilation", 3, 2, 15, 13, 11, 21, 3, 2, 2, 3, 2, 1, 1, 0, 1, 2},
    {"depthwise", 5, 2, 5, 9, 8, 5, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"depthwise, a lane more than two blocks", 65, 2, 65, 14, 13, 65, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"depthwise, bands of parts of rows, stride, dilation", 35, 2, 35, 9, 210, 35, 5, 2, 2, 2, 3, 1, 2, 1, 1, 2},
    {"depthwise, images of fewer bytes than a block", 1, 5, 1, 9, 1, 1, 4, 1, 1, 1, 1, 0, 2, 0, 0, 0},
    {"depthwise, whole blocks, as high as the image", 64, 2, 64, 7, 9, 64, 7, 7, 1, 1, 0, 0, 0, 0, 0, 0},
    {"pointwise, chunks that end within an image", 1, 20, 36, 7, 9, 32, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"pointwise, groups, half a quad", 2, 20, 38, 8, 8, 96, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0},
    {"pointwise, strided", 1, 2, 20, 9, 9, 40, 1, 1, 2, 2, 0, 0, 0, 0, 0, 0},
    {"pointwise, moved: padding above, the last row unread", 1, 19, 3, 9, 9, 4, 1, 1, 1, 1, 1, 1, -1, -1, 0, 0},
    {"3x3, whole tiles of words, rows in place", 1, 1, 64, 3, 9, 40, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0},
    {"few channels, many taps", 1, 2, 3, 17, 18, 34, 7, 7, 2, 2, 3, 3, 3, 3, 0, 0},
    {"more taps than are turned at once", 1, 1, 6, 13, 14, 35, 12, 11, 1, 1, 2, 2, 2, 2, 0, 0},
    {"as large as the image", 1, 3, 12, 5, 4, 70, 5, 4, 1, 1, 0, 0, 0, 0, 0, 0},
    {"one row of more than 64 pixels", 1, 2, 18, 1, 150, 5, 1, 3, 1, 1, 0, 1, 0, 1, 0, 0},
};
static const cnn_dtype dtypes[] = {CNN_U8_S8_S32, CNN_S8_S8_S32, CNN_U8_S8_U8,
                                   CNN_U8_S8_S8,  CNN_S8_S8_S8,  CNN_S8_S8_U8};
static const cnn_epilogue epilogues[] = {{CNN_ACT_IDENTITY, false, 0},
                                         {CNN_ACT_RELU, true, 0},
                                         {CNN_ACT_LEAKY_RELU, false, 0.25},
                                         {CNN_ACT_LEAKY_RELU, true, 0.25},
                                         {CNN_ACT_CLIPPED_RELU, false, 60}};
enum { SHAPES = sizeof shapes / sizeof *shapes, DTYPES = sizeof dtypes / sizeof *dtypes, EPILOGUES = 5 };

typedef struct arrays {
    cnn_operand info[CNN_MAX_OPERANDS];
    void *memory[CNN_MAX_OPERANDS];
    int count;
} arrays;

/* Any bytes, but for scales; and biases that leave results of 8 bits something to be told apart by. */
static arrays draw(const cnn_problem *p)
{
    arrays all;
    cnn_error err;
    cnn_rng rng = rng_stream(5, 0);
    all.count = cnn_operands(p, CNN_FWD, all.info, &err);
    assert_true(all.count > 0);
    for (int i = 0; i < all.count; i++) {
        const cnn_operand *o = &all.info[i];
        void *memory = all.memory[i] = aligned(o->bytes);
        for (size_t b = 0; b < o->bytes; b++) ((uint8_t *)memory)[b] = (uint8_t)rng_int(&rng, 0, 255);
        for (int64_t k = 0; k < o->count && strcmp(o->name, "scale") == 0; k++)
            ((float *)memory)[k] = ldexpf(1.0f, -(int)rng_int(&rng, 6, 12));
        for (int64_t k = 0; k < o->count && strcmp(o->name, "b") == 0 && cnn_is_quantized(p->u.type.dtype); k++)
            ((int32_t *)memory)[k] = (int32_t)rng_int(&rng, -20000, 20000);
    }
    return all;
}

static int number(const arrays *all, const char *name)
{
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->info[i].name, name) == 0) return i;
    return -1;
}

static void *array(const arrays *all, const char *name)
{
    const int i = number(all, name);
    return i < 0 ? NULL : all->memory[i];
}

static const cnn_algorithm *algorithm(const cnn_problem *p, bool naive)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    const char *name = naive ? "naive" : p->op == CNN_OP_FC ? "gemm" : "direct";
    int a = 0;
    while (strcmp(cpu->algorithms[a].name, name) != 0) a++;
    return &cpu->algorithms[a];
}

/* The arrays behind a run. */
static arrays run_whole(const cpu_session *s, const cnn_problem *p, bool naive, double beta)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    arrays all = draw(p);
    cnn_plan plan = {.problem = *p, .dir = CNN_FWD, .algorithm = *algorithm(p, naive), .knobs = s->knobs};
    cnn_error err = {.message = ""};
    if (cpu->prepare(s->context, &plan, &err) != CNN_OK) fail_msg("%s", err.message);
    void *workspace = aligned(plan.workspace_bytes);
    memset(workspace, 0x5a, plan.workspace_bytes);
    const cnn_weighted_args args = {.x = array(&all, "x"),
                                    .w = array(&all, "w"),
                                    .b = array(&all, "b"),
                                    .z = array(&all, "z"),
                                    .scale = array(&all, "scale"),
                                    .y = array(&all, "y"),
                                    .beta = beta,
                                    .workspace = workspace};
    const cnn_status status = p->op == CNN_OP_FC ? cpu->ops->fc_fwd(s->context, &plan, &args, &err)
                                                 : cpu->ops->conv_fwd(s->context, &plan, &args, &err);
    if (status != CNN_OK) fail_msg("%s", err.message);
    if (plan.state != NULL) cpu->release(s->context, &plan);
    free(workspace);
    return all;
}

static void free_arrays(arrays *all)
{
    for (int i = 0; i < all->count; i++) free(all->memory[i]);
}

/* ---- Every kernel by every number of threads: the pairs of each instruction set, then the quads of bytes, where the
 * processor has them, by themselves, on matrix units, where it has these, and on imitated ones. */
enum { KERNELS = CPU_ISA_COUNT + 3, MOST_THREADS = 3, SESSIONS = KERNELS * MOST_THREADS };

static int open_sessions(void **state)
{
    cpu_session *all = calloc(SESSIONS, sizeof *all);
    const cnn_impl *cpu = cnn_impl_cpu();
    if (all == NULL) return -1;
    for (int i = 0; i < SESSIONS; i++) {
        const int kernel = i / MOST_THREADS;
        all[i] = open_cpu(1 + i % MOST_THREADS, kernel < CPU_ISA_COUNT ? kernel : CPU_ISA_AVX512, 256);
        for (int k = 0; k < cpu->n_knobs; k++)
            if (strcmp(cpu->knobs[k].name, "vnni") == 0)
                all[i].knobs[k] = kernel >= CPU_ISA_COUNT;
            else if (strcmp(cpu->knobs[k].name, "amx") == 0)
                all[i].knobs[k] = kernel >= CPU_ISA_COUNT ? kernel - CPU_ISA_COUNT : 0;
    }
    *state = all;
    return 0;
}

static int close_sessions(void **state)
{
    cpu_session *all = *state;
    for (int i = 0; i < SESSIONS; i++) cnn_impl_cpu()->close(all[i].context);
    free(all);
    return 0;
}

static void check(const cpu_session *sessions, const char *what, const cnn_problem *p, double beta)
{
    arrays right = run_whole(&sessions[0], p, true, beta);
    const int y = number(&right, "y");
    for (int i = 0; i < SESSIONS; i++) {
        /* What is imitated is slow: by two threads. */
        if (i / MOST_THREADS == KERNELS - 1 && i % MOST_THREADS != 1) continue;
        if (SANITIZED && i % MOST_THREADS != 2 - i / MOST_THREADS % 2) continue; /* it sees as much by two or three */
        arrays got = run_whole(&sessions[i], p, false, beta);
        if (memcmp(got.memory[y], right.memory[y], right.info[y].bytes) != 0)
            fail_msg("%s: dtype %d, layout %d, epilogue %d, residual %d, beta %g: kernel %d, %d threads: other bits",
                     what, (int)p->u.type.dtype, (int)p->u.type.layout, (int)cnn_epilogue_of(p).act,
                     cnn_epilogue_of(p).add, beta, i / MOST_THREADS, 1 + i % MOST_THREADS);
        free_arrays(&got);
    }
    free_arrays(&right);
}

static cnn_quantization zeros_of(cnn_dtype dtype, bool per_oc)
{
    const bool is_signed = cnn_part_dtype(dtype, CNN_PART_FACTOR) == CNN_S8;
    return (cnn_quantization){.zero_x = is_signed ? -77 : 200, .zero_y = 30, .per_oc = per_oc};
}

static void convolutions(void **state)
{
    for (int v = 0; v < SHAPES * DTYPES * CNN_LAYOUT_COUNT; v++) {
        const shape *s = &shapes[v % SHAPES];
        const cnn_dtype dtype = dtypes[v / SHAPES % DTYPES];
        const bool quantized = cnn_is_quantized(dtype);
        if (is_left_out_when_quick((size_t)v, 8)) continue;
        for (int e = 0; e < (quantized ? EPILOGUES : 2); e++) {
            cnn_problem p = make_problem(s, dtype, (cnn_layout)(v / SHAPES / DTYPES), (v + e) % 3 != 0, (v + e) % 2);
            if (quantized) p.u.conv.quant = zeros_of(dtype, e % 2 == 0), p.u.conv.epilogue = epilogues[e];
            check(*state, s->what, &p, quantized ? 0 : e);
        }
    }
}

static void layers(void **state)
{
    static const cnn_fc_desc sizes[] = {{.mb = 1, .ic = 150, .ih = 1, .iw = 1, .oc = 70},
                                        {.mb = 30, .ic = 7, .ih = 3, .iw = 5, .oc = 33},
                                        {.mb = 3, .ic = 1, .ih = 4, .iw = 4, .oc = 5}};
    for (int v = 0; v < 3 * DTYPES * CNN_LAYOUT_COUNT; v++) {
        const cnn_dtype dtype = dtypes[v / 3 % DTYPES];
        cnn_problem p = {.op = CNN_OP_FC, .u.fc = sizes[v % 3]};
        p.u.fc.t = (cnn_type){dtype, dtype, (cnn_layout)(v / 3 / DTYPES), CNN_MATH_F32};
        p.u.fc.bias = v % 2;
        if (cnn_is_quantized(dtype)) p.u.fc.quant = zeros_of(dtype, v % 2 == 0);
        check(*state, "a layer", &p, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions),
        cmocka_unit_test(layers),
    };
    return cmocka_run_group_tests(tests, open_sessions, close_sessions);
}
