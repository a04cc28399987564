/* test_threads.c: every task runs exactly once, results are there when parallel_for returns, pools open and close in
 * any state (spinning, asleep, never used), with fewer and more threads than cores or tasks. */
#include "tests/unit.h"

#include "harness/cpu/limits.h"
#include "harness/cpu/threads.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_TASKS = 300 };

typedef struct job {
    int threads;
    int64_t tasks, round;
    int64_t result[MAX_TASKS]; /* plain memory: the thread sanitizer sees a missing happens-before */
    atomic_int ran[MAX_TASKS];
    atomic_int bad_worker;
    atomic_int busy[64]; /* by worker: no two threads share a number */
} job;

static thread_pool *open_pool(int threads)
{
    thread_pool *pool = NULL;
    cnn_error err;
    assert_int_equal(thread_pool_open(threads, &pool, &err), CNN_OK);
    assert_int_equal(thread_pool_threads(pool), threads);
    return pool;
}

static void record_task(void *arg, int64_t task, int worker)
{
    job *j = arg;
    if (worker < 0 || worker >= j->threads || atomic_fetch_add(&j->busy[worker], 1) != 0) j->bad_worker = 1;
    j->result[task] += j->round * 1000 + task;
    atomic_fetch_add(&j->ran[task], 1);
    atomic_fetch_sub(&j->busy[worker], 1);
}

static void run_and_check(thread_pool *pool, job *j)
{
    for (int64_t i = 0; i < MAX_TASKS; i++) {
        j->result[i] = -j->round;
        atomic_store(&j->ran[i], 0);
    }
    parallel_for(pool, j->tasks, record_task, j);
    for (int64_t i = 0; i < MAX_TASKS; i++) {
        bool in = i < j->tasks;
        assert_int_equal(atomic_load(&j->ran[i]), in ? 1 : 0);
        assert_int_equal(j->result[i], in ? j->round * 999 + i : -j->round);
    }
    assert_int_equal(atomic_load(&j->bad_worker), 0);
}

static void sleep_ms(long ms)
{
    struct timespec t = {.tv_sec = 0, .tv_nsec = ms * 1000000};
    nanosleep(&t, NULL);
}

/* All combinations of threads and tasks, one pool reused at once for jobs of different sizes. */
static void every_task_runs_once(void **state)
{
    static const int threads[] = {1, 2, 3, 8, 17};
    static const int64_t tasks[] = {0, 1, 2, 3, 7, 16, MAX_TASKS};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        thread_pool *pool = open_pool(threads[t]);
        job *j = calloc(1, sizeof *j);
        assert_non_null(j);
        j->threads = threads[t];
        for (j->round = 1; j->round <= 70; j->round++) {
            j->tasks = tasks[j->round % 7];
            run_and_check(pool, j);
        }
        free(j);
        thread_pool_close(pool);
    }
}

/* Workers that have gone to sleep are woken; those on the way to sleep are not lost. */
static void sleeping_workers_wake(void **state)
{
    thread_pool *pool = open_pool(3);
    job *j = calloc(1, sizeof *j);
    assert_non_null(j);
    j->threads = 3;
    j->tasks = 5;
    for (j->round = 1; j->round <= 30; j->round++) {
        if (j->round % 2) sleep_ms(j->round % 4);
        run_and_check(pool, j);
    }
    free(j);
    thread_pool_close(pool);
}

typedef struct meeting {
    int threads;
    atomic_int arrived;
} meeting;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_for_all(void *arg, int64_t task, int worker)
{
    meeting *m = arg;
    atomic_fetch_add(&m->arrived, 1);
    double deadline = seconds() + 20;
    while (atomic_load(&m->arrived) < m->threads && seconds() < deadline) sleep_ms(1);
}

/* The tasks really run at the same time: as many as there are threads can wait for each other. */
static void tasks_run_concurrently(void **state)
{
    for (int threads = 2; threads <= 6; threads += 2) {
        thread_pool *pool = open_pool(threads);
        for (int round = 0; round < 3; round++) {
            meeting m = {.threads = threads};
            double start = seconds();
            parallel_for(pool, threads, wait_for_all, &m);
            assert_true(seconds() - start < 15);
            if (round == 1) sleep_ms(2);
        }
        thread_pool_close(pool);
    }
}

typedef struct slow_job {
    int64_t done[4];
} slow_job;

static void slow_task(void *arg, int64_t task, int worker)
{
    slow_job *j = arg;
    sleep_ms(task == 0 ? 0 : 3);
    j->done[task] = 1;
}

/* The caller is finished long before the workers: it must sleep and be woken, and see what they wrote. */
static void caller_waits_for_workers(void **state)
{
    for (int threads = 2; threads <= 4; threads++) {
        thread_pool *pool = open_pool(threads);
        for (int round = 0; round < 4; round++) {
            slow_job j = {{0}};
            parallel_for(pool, 4, slow_task, &j);
            for (int i = 0; i < 4; i++) assert_int_equal(j.done[i], 1);
        }
        thread_pool_close(pool);
    }
}

static void closes_in_any_state(void **state)
{
    for (int round = 0; round < 60; round++) {
        thread_pool *pool = open_pool(1 + round % 5);
        if (round % 3 == 1) sleep_ms(1);
        if (round % 2) {
            slow_job j = {{0}};
            parallel_for(pool, 2, slow_task, &j);
        }
        thread_pool_close(pool);
    }
    thread_pool_close(NULL);
}

static void no_pool_runs_in_the_caller(void **state)
{
    job *j = calloc(1, sizeof *j);
    assert_non_null(j);
    j->threads = 1;
    j->round = 1;
    j->tasks = 9;
    run_and_check(NULL, j);
    assert_int_equal(thread_pool_threads(NULL), 1);
    free(j);
}

static void refuses_no_threads(void **state)
{
    for (int threads = -3; threads <= 0; threads++) {
        thread_pool *pool = NULL;
        cnn_error err;
        assert_int_equal(thread_pool_open(threads, &pool, &err), CNN_BAD_ARGUMENT);
        assert_null(pool);
    }
}

static void names_of_the_machine(void **state)
{
    char model[64], tiny[4];
    assert_true(cpu_count() >= 1);
    assert_true(cpu_isa_best() < CPU_ISA_COUNT);
    assert_string_equal(cpu_isa_name(CPU_ISA_BASE), "base");
    assert_string_equal(cpu_isa_name(CPU_ISA_AVX512), "avx512");
    assert_true(strlen(cpu_model(model, sizeof model)) > 0);
    assert_true(strlen(cpu_model(tiny, sizeof tiny)) <= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once),   cmocka_unit_test(sleeping_workers_wake),
        cmocka_unit_test(tasks_run_concurrently), cmocka_unit_test(caller_waits_for_workers),
        cmocka_unit_test(closes_in_any_state),    cmocka_unit_test(no_pool_runs_in_the_caller),
        cmocka_unit_test(refuses_no_threads),     cmocka_unit_test(names_of_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
