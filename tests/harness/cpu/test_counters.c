/* test_counters.c: page faults of a known number, of every thread that there is and that comes later; names; refusals.
 */
#include "tests/unit.h"

#include "harness/base/clock.h"
#include "harness/cpu/counters.h"
#include "harness/cpu/threads.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGES = 600, TASKS = 8 };

/* So many new pages; huge pages would be one fault each. A sanitizer sees neither the pages nor the writes: each page
 * of its shadow would be a fault more. */
__attribute__((no_sanitize("address", "thread"))) static void touch(void *unused, int64_t task, int worker)
{
    (void)unused, (void)task, (void)worker;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = PAGES * page;
    const long mapped =
        syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, (off_t)0);
    assert_true(mapped != -1);
    char *at = (char *)mapped;
    syscall(SYS_madvise, at, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes; i += page) ((volatile char *)at)[i] = 1;
    syscall(SYS_munmap, at, bytes);
}

static void *touch_once(void *unused)
{
    touch(unused, 0, 0);
    return NULL;
}

static void touch_in_a_new_thread(void)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, touch_once, NULL), 0);
    pthread_join(thread, NULL);
}

typedef enum whose { NOTHING, THREADS_THERE, A_NEW_THREAD } whose;

/* The faults of that work, with more of them before and behind it. Skips where the system counts none. */
static int64_t faults_of(whose work, thread_pool *pool)
{
    counters *c;
    counter_report report;
    cnn_error err;
    assert_int_equal(counters_open(1u << COUNTER_page_faults, &c, &err), CNN_OK);
    touch(NULL, 0, 0);
    counters_start(c);
    if (work == THREADS_THERE) parallel_for(pool, TASKS, touch, NULL);
    if (work == A_NEW_THREAD) touch_in_a_new_thread();
    counters_stop(c, &report);
    touch(NULL, 0, 0);
    counters_close(c);
    if (report.count[COUNTER_page_faults] < 0) {
        print_message("page faults are not counted here: %s\n", counter_why(report.why[COUNTER_page_faults]));
        skip();
    }
    assert_int_equal(report.events, 1u << COUNTER_page_faults);
    assert_int_equal(report.count[COUNTER_instructions], -1); /* not asked for */
    assert_int_equal(report.why[COUNTER_instructions], 0);
    return report.count[COUNTER_page_faults];
}

static void all_threads_are_counted(void **state)
{
    (void)state;
    thread_pool *pool;
    cnn_error err;
    assert_int_equal(thread_pool_open(3, &pool, &err), CNN_OK);
    const int64_t nothing = faults_of(NOTHING, pool);
    const int64_t there = faults_of(THREADS_THERE, pool), later = faults_of(A_NEW_THREAD, pool);
    thread_pool_close(pool);
    assert_true(nothing < PAGES / 2);
    assert_true(there >= TASKS * PAGES && there < (TASKS + 1) * PAGES);
    assert_true(later >= PAGES && later < 2 * PAGES);
}

static void names(void **state)
{
    (void)state;
    uint32_t events;
    cnn_error err;
    assert_int_equal(counters_parse("all", &events, &err), CNN_OK);
    assert_int_equal(events, (1u << COUNTER_COUNT) - 1);
    assert_int_equal(counters_parse("cache_misses,cycles", &events, &err), CNN_OK);
    assert_int_equal(events, 1u << COUNTER_cache_misses | 1u << COUNTER_cycles);
    const char *const bad[] = {"", "cycle", "cycles,", ",cycles", "cycles,all", "cycles misses"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(counters_parse(bad[i], &events, &err), CNN_BAD_ARGUMENT);
        assert_non_null(strstr(err.message, "no counter is named '"));
        assert_non_null(strstr(err.message, "cache_misses"));
    }
}

static void refusals_help(void **state)
{
    (void)state;
    assert_non_null(strstr(counter_why(EACCES), "perf_event_paranoid"));
    assert_non_null(strstr(counter_why(EMFILE), "ulimit -n"));
    assert_non_null(strstr(counter_why(ENOENT), "virtual machine"));
    assert_non_null(strstr(counter_why(EIO), strerror(EIO)));
}

/* What this machine has of each: none is counted and refused at once, and a spinning thread takes its time. */
static void each_is_counted_or_refused(void **state)
{
    (void)state;
    counters *c;
    counter_report report;
    cnn_error err;
    assert_int_equal(counters_open((1u << COUNTER_COUNT) - 1, &c, &err), CNN_OK);
    counters_start(c);
    const double start = cnn_now();
    while (cnn_now() - start < 0.02) continue;
    counters_stop(c, &report);
    counters_close(c);
    for (int i = 0; i < COUNTER_COUNT; i++) assert_int_equal(report.count[i] < 0, report.why[i] != 0);
    if (report.count[COUNTER_task_ns] >= 0) assert_in_range(report.count[COUNTER_task_ns], 1000000, 1000000000);
    if (report.count[COUNTER_instructions] >= 0) assert_true(report.count[COUNTER_instructions] > 10000);
    assert_true(report.share > 0 && report.share <= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_are_counted),
        cmocka_unit_test(names),
        cmocka_unit_test(refusals_help),
        cmocka_unit_test(each_is_counted_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
