/* test_peaks.c: ceilings: measured, written, read back, and the floors they put under an operation. */
#include "bench/measure/clocks.h"
#include "bench/measure/peaks.h"
#include "bench/measure/stats.h"
#include "harness/cpu/limits.h"
#include "harness/problem/problem.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/problem_unit.h"

static void open_cpu(cnn_session *session, int threads)
{
    const cnn_session_params params = {.threads = threads};
    cnn_error err;
    const cnn_impl *cpu = cnn_impl_find(NULL, "cpu", &err);
    assert_non_null(cpu);
    assert_int_equal(cnn_session_open(cpu, &params, session, &err), CNN_OK);
}

static const bench_peak *find(const bench_peaks *peaks, const char *name, int threads)
{
    char text[3 * CNN_NAME_MAX];
    for (int i = 0; i < peaks->count; i++)
        if (peaks->list[i].threads == threads && strcmp(bench_peak_name(&peaks->list[i], text, sizeof text), name) == 0)
            return &peaks->list[i];
    return NULL;
}

/* By second, of one core. A sanitizer that watches each access makes reading 30 times slower. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define LEAST 1e6
#else
#define LEAST 1e8
#endif

static void the_processor_tells_its_own(void **state)
{
    const peak_plan plan = {.seconds = 0.002, .latencies = true};
    bench_peaks peaks = {0};
    cnn_session session;
    cnn_error err;
    open_cpu(&session, 1);
    assert_int_equal(bench_peaks_measure(&peaks, &session, &plan, &err), CNN_OK);
    assert_true(peaks.count >= 6);
    for (int i = 0; i < peaks.count; i++) {
        const bench_peak *p = &peaks.list[i];
        assert_true(isfinite(p->value) && p->value > LEAST && p->value < 1e13);
        assert_true(p->median > 0 && p->median <= p->value && p->samples >= 3);
        assert_string_equal(p->impl, "cpu");
        assert_true(p->samples >= 6); /* two rounds at least */
    }
    assert_non_null(find(&peaks, "read", 1));
    assert_non_null(find(&peaks, "copy", 1));
    assert_non_null(find(&peaks, "triad", 1));
    assert_non_null(find(&peaks, "gemm openblas f32", 1));
    const int once = peaks.count; /* of two of the same the better one is kept */
    bench_peak again = peaks.list[0];
    again.value *= 2;
    assert_int_equal(bench_peaks_add(&peaks, &again, &err), CNN_OK);
    assert_true(peaks.count == once && peaks.list[0].value == again.value);
    again.value /= 4;
    assert_int_equal(bench_peaks_add(&peaks, &again, &err), CNN_OK);
    assert_true(peaks.count == once && peaks.list[0].value == 4 * again.value);
    again.threads++;
    assert_int_equal(bench_peaks_add(&peaks, &again, &err), CNN_OK);
    assert_int_equal(peaks.count, once + 1);
    bench_peaks_free(&peaks);
    cnn_session_close(&session);
}

/* Nobody waits for ceilings of arithmetic that no figure is set against. */
static void only_asked_for_types_are_measured(void **state)
{
    const cnn_type types[] = {{CNN_F64, CNN_F64, CNN_NCHW, CNN_MATH_F32}, {CNN_F64, CNN_F64, CNN_NHWC, CNN_MATH_F32}};
    const peak_plan plan = {.seconds = 0.0005, .types = types, .n_types = 2};
    bench_peaks peaks = {0};
    cnn_session session;
    cnn_error err;
    int arithmetic = 0;
    open_cpu(&session, 1);
    assert_int_equal(bench_peaks_measure(&peaks, &session, &plan, &err), CNN_OK);
    for (int i = 0; i < peaks.count; i++) {
        if (peaks.list[i].unit != CNN_PEAK_FLOPS) continue;
        assert_int_equal(peaks.list[i].dtype, CNN_F64);
        arithmetic++;
    }
    assert_true(arithmetic >= 2);
    assert_non_null(find(&peaks, "gemm openblas f64", 1));
    assert_non_null(find(&peaks, "triad", 1));
    bench_peaks_free(&peaks);
    cnn_session_close(&session);
}

/* Products of bytes and of bf16 are held to what the instruction for them does, not to multiply-adds of f32. */
static void bytes_and_bf16_have_ceilings_of_their_own(void **state)
{
    const struct {
        cnn_dtype dtype, ceiling;
        cnn_math math;
        bool has;
        double products; /* of an instruction */
        const char *name, *on_tiles;
    } rows[] = {
        {CNN_S8_S8_U8, CNN_U8_S8_S32, CNN_MATH_F32, cpu_has_vnni(), 64, "dot vnni u8:s8:s32", "dot amx u8:s8:s32"},
        {CNN_BF16, CNN_F32, CNN_MATH_BF16, cpu_has_bf16(), 32, "dot avx512_bf16 bf16", "dot amx bf16"}};
    const bool tiles = cpu_may_use_amx();
    cnn_session session;
    cnn_peak peak;
    cnn_error err;
    open_cpu(&session, 2);
    for (int r = 0; r < 2; r++) {
        const cnn_type type = {rows[r].dtype, rows[r].dtype, CNN_NCHW, CNN_MATH_F32};
        const peak_plan plan = {.seconds = 0.0005, .types = &type, .n_types = 1};
        const bool there = rows[r].has && cpu_has_amx() == tiles;
        const char *name = tiles ? rows[r].on_tiles : rows[r].name;
        bench_peaks peaks = {0};
        int arithmetic = 0;
        assert_int_equal(bench_peaks_measure(&peaks, &session, &plan, &err), CNN_OK);
        for (int i = 0; i < peaks.count; i++) arithmetic += peaks.list[i].unit == CNN_PEAK_FLOPS;
        assert_int_equal(arithmetic, there);
        assert_true((find(&peaks, name, 2) != NULL) == there);
        bench_peaks_free(&peaks);
        for (int i = 0; i < session.impl->peaks->count; i++) {
            if (session.impl->peaks->open(session.context, i, &peak, &err) != CNN_OK) continue;
            if (strcmp(peak.what, "dot") == 0 && peak.dtype == rows[r].ceiling && peak.math == rows[r].math)
                assert_true(fmod(peak.amount, 2 * (tiles ? 4 * 256 : 12) * rows[r].products * 2) ==
                            0); /* two threads */
            session.impl->peaks->close(session.context, &peak);
        }
    }
    cnn_session_close(&session);
}

static bool at_once(void) { return true; }

static void measuring_can_be_interrupted(void **state)
{
    const peak_plan plan = {.seconds = 100, .stop = at_once};
    bench_peaks peaks = {0};
    cnn_session session;
    cnn_error err;
    open_cpu(&session, 1);
    assert_int_equal(bench_peaks_measure(&peaks, &session, &plan, &err), CNN_INTERRUPTED);
    bench_peaks_free(&peaks);
    cnn_session_close(&session);
}

static bench_peak made_up(const cnn_session *session, cnn_peak_unit unit, const char *what, double value, int64_t holds)
{
    bench_peak p = {.unit = unit, .threads = session->threads, .value = value, .median = value, .holds = holds};
    snprintf(p.what, sizeof p.what, "%s", what);
    if (holds) snprintf(p.variant, sizeof p.variant, "L2");
    snprintf(p.impl, sizeof p.impl, "cpu");
    machine_name(session, p.machine, sizeof p.machine);
    return p;
}

static void records_come_back(void **state)
{
    char path[] = "/tmp/test_peaks_XXXXXX";
    bench_peaks written = {0}, read = {0};
    record_sink *sink;
    cnn_session session;
    cnn_error err;
    open_cpu(&session, 1);
    bench_peak some[] = {made_up(&session, CNN_PEAK_FLOPS, "fma", 1e11, 0),
                         made_up(&session, CNN_PEAK_BYTES, "read", 2e11, 4096),
                         made_up(&session, CNN_PEAK_SECONDS, "launch", 3e-6, 0)};
    const int fd = mkstemp(path);
    some[1].marks = BENCH_NOISY | BENCH_DISTURBED;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(record_sink_open(path, NULL, &sink, &err), CNN_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(bench_peaks_add(&written, &some[i], &err), CNN_OK);
        assert_int_equal(record_write(sink, bench_peak_record(&some[i]), &err), CNN_OK);
    }
    record_sink_close(sink);
    assert_int_equal(bench_peaks_read(&read, path, &err), CNN_OK);
    assert_int_equal(read.count, 3);
    for (int i = 0; i < 3; i++) {
        const bench_peak *a = &written.list[i], *b = &read.list[i];
        assert_string_equal(a->what, b->what);
        assert_string_equal(a->variant, b->variant);
        assert_string_equal(a->machine, b->machine);
        assert_true(a->unit == b->unit && a->value == b->value && a->holds == b->holds && a->threads == b->threads);
        assert_int_equal(a->marks, b->marks);
    }
    FILE *empty = fopen(path, "w");
    assert_non_null(empty);
    fputs("{\"kind\":\"peak\",\"what\":\"fma\",\"value\":-1,\"unit\":\"flop/s\",\"machine\":\"x\"}\n", empty);
    fclose(empty);
    assert_int_equal(bench_peaks_read(&read, path, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "no ceilings");
    unlink(path);
    bench_peaks_free(&written);
    bench_peaks_free(&read);
    cnn_session_close(&session);
}

static bool floor_of(const bench_peaks *peaks, const cnn_session *session, const cnn_problem *problem, bool cold,
                     double took, bench_floor *floor)
{
    const bench_work work = {problem, CNN_FWD, cold, took, NULL};
    return bench_floor_of(peaks, session, &work, floor);
}

/* Worked out by hand for mb1 ic1 3x3 oc1 kh3 without padding: 2 * 9 operations and a bias; 9 + 9 + 1 + 1 floats. */
static void floors_are_what_they_should_be(void **state)
{
    bench_peaks peaks = {0};
    bench_floor floor;
    cnn_problem problem = problem_of(CNN_OP_CONV, "mb1ic1ih3oc1kh3", CNN_F32, CNN_NCHW);
    const cnn_problem large = problem_of(CNN_OP_ACT, "identity:mb1000ic1000ih1000", CNN_F32, CNN_NCHW);
    cnn_session session;
    cnn_error err;
    open_cpu(&session, 1);
    const bench_peak some[] = {
        made_up(&session, CNN_PEAK_FLOPS, "fma", 19, 0), made_up(&session, CNN_PEAK_BYTES, "read", 8, 0),
        made_up(&session, CNN_PEAK_BYTES, "read", 160, 80), made_up(&session, CNN_PEAK_BYTES, "copy", 7, 0)};
    assert_int_equal(bench_peaks_add(&peaks, &some[0], &err), CNN_OK);
    assert_false(floor_of(&peaks, &session, &problem, true, INFINITY, &floor)); /* nothing of memory */
    for (int i = 1; i < 4; i++) assert_int_equal(bench_peaks_add(&peaks, &some[i], &err), CNN_OK);
    assert_true(floor_of(&peaks, &session, &problem, true, INFINITY, &floor)); /* 80 bytes at 8, 19 at 19 */
    assert_true(floor.seconds == 10);
    assert_string_equal(floor.by, "read");
    assert_true(floor_of(&peaks, &session, &problem, false, INFINITY, &floor)); /* 80 bytes fit that cache */
    assert_true(floor.seconds == 1);
    assert_string_equal(floor.by, "fma f32");
    cnn_algorithm winograd = {.flags = CNN_ALGO_TRANSFORMS, .amplification = 96};
    const bench_work transformed = {&problem, CNN_FWD, false, INFINITY, &winograd};
    assert_true(bench_floor_of(&peaks, &session, &transformed, &floor));
    assert_true(floor.seconds == 0.5); /* a quarter of the products; 80 bytes at 160 take longer */
    winograd.flags = 0;
    assert_true(bench_floor_of(&peaks, &session, &transformed, &floor) && floor.seconds == 1);
    bench_peak units = made_up(&session, CNN_PEAK_FLOPS, "gemm", 6 * 19, 0);
    units.math = CNN_MATH_TF32;
    assert_int_equal(bench_peaks_add(&peaks, &units, &err), CNN_OK);
    assert_true(floor_of(&peaks, &session, &problem, false, 1, &floor) && floor.seconds == 1);
    assert_string_equal(floor.by, "fma f32"); /* who keeps to f32's own arithmetic stands under it */
    assert_true(floor_of(&peaks, &session, &problem, false, 0.75, &floor) && floor.seconds == 0.5);
    assert_string_equal(floor.by, "1/3 of gemm tf32"); /* who is faster has used other units */
    peaks.list[4].value = 3 * 19;
    assert_true(floor_of(&peaks, &session, &problem, false, 0.75, &floor) && floor.seconds == 1); /* these are none */
    peaks.list[2].holds = 79;
    assert_false(floor_of(&peaks, &session, &problem, false, INFINITY, &floor)); /* a cache, which is not known */
    assert_true(floor_of(&peaks, &session, &problem, true, INFINITY, &floor) && floor.seconds == 10);
    assert_true(floor_of(&peaks, &session, &large, false, INFINITY, &floor) && floor.seconds == 1e12); /* in none */
    problem.u.type.dtype = problem.u.type.weights = CNN_F64;
    assert_false(floor_of(&peaks, &session, &problem, false, INFINITY, &floor)); /* no ceiling in f64 */
    problem.u.type = (cnn_type){CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_BF16};
    assert_false(floor_of(&peaks, &session, &problem, false, INFINITY, &floor));
    problem.u.type.math = CNN_MATH_F32;
    session.threads = 2; /* ceilings of one thread say nothing of two */
    assert_false(floor_of(&peaks, &session, &problem, false, INFINITY, &floor));
    session.threads = 1;
    bench_peaks_free(&peaks);
    cnn_session_close(&session);
}

/* The worse of two rounds counts for nothing, and other work, which keeps a ceiling down, shows. */
static void ceilings_beside_other_work_are_marked(void **state)
{
    const int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    const peak_plan plan = {.seconds = 0.03};
    bench_peaks peaks = {0};
    cnn_session session;
    cnn_error err;
    pid_t child[64];
    int disturbed = 0;
    if (processors > 64) skip();
    open_cpu(&session, 1);
    for (int i = 0; i < processors; i++) {
        child[i] = fork();
        if (child[i] == 0)
            for (;;) continue;
    }
    const cnn_status status = bench_peaks_measure(&peaks, &session, &plan, &err);
    for (int i = 0; i < processors; i++) {
        kill(child[i], SIGKILL);
        waitpid(child[i], NULL, 0);
    }
    assert_int_equal(status, CNN_OK);
    for (int i = 0; i < peaks.count; i++) disturbed += (peaks.list[i].marks & BENCH_DISTURBED) != 0;
    assert_true(2 * disturbed > peaks.count);
    bench_peaks_free(&peaks);
    cnn_session_close(&session);
}

static void caches_grow_with_their_level(void **state)
{
    if (cpu_cache_bytes(1) == 0 || cpu_cache_bytes(2) == 0) skip();
    assert_true(cpu_cache_bytes(1) < cpu_cache_bytes(2));
    assert_true(cpu_last_cache_bytes(0, 1) >= cpu_cache_bytes(2));
    assert_int_equal(cpu_last_cache_bytes(SIZE_MAX, 1), SIZE_MAX);
    const int last = cpu_cache_bytes(3) > 0 ? 3 : 2;
    assert_int_equal(cpu_last_cache_bytes(0, 1000), cpu_cache_bytes(last) * (size_t)cpu_cache_instances("", last));
}

static void show(const char *root, int cpu, int level, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "mkdir -p %s/sys/devices/system/cpu/cpu%d/cache/index%d", root, cpu, level);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/cache/index%d/%s", root, cpu, level, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

/* A core's cache of this level, which the cores of the list share. */
static void show_cache(const char *root, int cpu, int level, const char *cores)
{
    char text[16];
    snprintf(text, sizeof text, "%d", level);
    show(root, cpu, level, "level", text);
    show(root, cpu, level, "type", "Unified");
    show(root, cpu, level, "shared_cpu_list", cores);
}

/* Two cores of this process and one that is not its own, each with a last-level cache to itself, then one in common. */
static void several_last_caches_are_counted(void **state)
{
    cpu_set_t mine;
    int cpus[3], count = 0;
    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE && count < 2; cpu++)
        if (CPU_ISSET(cpu, &mine)) cpus[count++] = cpu;
    for (int cpu = 0; cpu < CPU_SETSIZE && count == 2; cpu++)
        if (!CPU_ISSET(cpu, &mine)) cpus[count++] = cpu;
    if (count < 3) skip();
    for (int shared = 0; shared < 2; shared++) {
        char root[] = "/tmp/test_peaks_XXXXXX", text[64];
        assert_non_null(mkdtemp(root));
        for (int i = 0; i < 3; i++) {
            snprintf(text, sizeof text, "%d-%d,%d", cpus[shared ? 0 : i], cpus[shared ? 2 : i], 900 + i);
            show_cache(root, cpus[i], 3, text);
        }
        const int found = cpu_cache_instances(root, 3), none = cpu_cache_instances(root, 2);
        snprintf(text, sizeof text, "rm -r %s", root);
        assert_int_equal(system(text), 0);
        assert_int_equal(found, shared ? 1 : 2);
        assert_int_equal(none, 1);
    }
}

/* What a ceiling of the memory goes through is four times what all caches hold; under a sanitizer less will do. */
static void memory_is_more_than_all_caches(void **state)
{
    cnn_session session;
    cnn_peak peak;
    cnn_error err;
    open_cpu(&session, 2);
    const cnn_peaks *peaks = session.impl->peaks;
    for (int i = 0; i < peaks->count; i++) {
        if (peaks->open(session.context, i, &peak, &err) != CNN_OK) continue;
        const size_t least = (size_t)16 << 20, caches = LEAST < 1e8 ? least : cpu_last_cache_bytes(least, 2);
        if (peak.unit == CNN_PEAK_BYTES && peak.holds == 0) assert_true(peak.amount > 3.9 * (double)caches);
        if (strcmp(peak.variant, "L3") == 0) assert_int_equal(peak.holds, cpu_last_cache_bytes(0, 2));
        peaks->close(session.context, &peak);
    }
    cnn_session_close(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_processor_tells_its_own),
        cmocka_unit_test(measuring_can_be_interrupted),
        cmocka_unit_test(records_come_back),
        cmocka_unit_test(floors_are_what_they_should_be),
        cmocka_unit_test(only_asked_for_types_are_measured),
        cmocka_unit_test(bytes_and_bf16_have_ceilings_of_their_own),
        cmocka_unit_test(ceilings_beside_other_work_are_marked),
        cmocka_unit_test(caches_grow_with_their_level),
        cmocka_unit_test(several_last_caches_are_counted),
        cmocka_unit_test(memory_is_more_than_all_caches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
