/* test_busy.c: how many threads did the work: those that live on, those that came and went, and none that slept. */
#include "harness/cpu/busy.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit.h"

static double own_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *work(void *arg)
{
    const double until = own_seconds() + 0.02;
    while (own_seconds() < until) continue;
    return arg;
}

static void *work_and_stay(void *arg)
{
    atomic_int *gate = arg;
    work(NULL);
    atomic_store(gate, 1);
    while (atomic_load(gate) != 2) usleep(2000);
    return NULL;
}

static void one_thread_is_one(void **state)
{
    busy_span span;
    busy_start(&span);
    work(NULL);
    const busy_work w = busy_stop(&span, 1);
    assert_int_equal(w.threads, 1);
    assert_true(w.exact && w.beyond < 0.01 * w.seconds && w.seconds > 0.019);
    assert_true(w.wall >= 0.02);
}

static void a_thread_that_ended_counts(void **state)
{
    pthread_t thread;
    for (int most = 1; most <= 2; most++) {
        busy_span span;
        busy_start(&span);
        assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
        work(NULL);
        pthread_join(thread, NULL);
        const busy_work w = busy_stop(&span, most);
        assert_int_equal(w.threads, 2);
        assert_true(most == 1 ? w.beyond > 0.4 * w.seconds : w.beyond < 0.05 * w.seconds);
    }
}

/* Three at once, of which no one knows but the sum: no thread can have done more than the time that passed. */
static void several_that_ended_are_told_by_their_sum(void **state)
{
    pthread_t threads[3];
    busy_span span;
    busy_start(&span);
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    const busy_work w = busy_stop(&span, 3);
    assert_true(w.beyond < 0.05 * w.seconds && w.seconds >= 0.06 && w.threads <= 3);
}

static void a_thread_that_lives_on_counts_while_it_works(void **state)
{
    pthread_t thread;
    atomic_int gate = 0;
    busy_span span;
    busy_start(&span);
    assert_int_equal(pthread_create(&thread, NULL, work_and_stay, &gate), 0);
    work(NULL);
    while (atomic_load(&gate) != 1) usleep(100);
    busy_work w = busy_stop(&span, 1);
    assert_true(w.threads == 2 && w.beyond > 0.4 * w.seconds);
    busy_start(&span);
    work(NULL);
    w = busy_stop(&span, 1);
    assert_true(w.beyond < 0.2 * w.seconds);
    atomic_store(&gate, 2);
    pthread_join(thread, NULL);
}

static void what_is_set_aside_does_not_count(void **state)
{
    busy_span span;
    busy_start(&span);
    busy_pause(&span);
    work(NULL);
    busy_go_on(&span);
    assert_true(busy_stop(&span, 1).seconds < 0.01);
}

static void *work_by_id(void *id)
{
    atomic_store((atomic_int *)id, gettid());
    return work(NULL);
}

static void others_are_seen_while_they_run(void **state)
{
    pthread_t thread;
    atomic_int id = 0;
    bool seen = false;
    assert_false(busy_others(NULL, 0));
    assert_int_equal(pthread_create(&thread, NULL, work_by_id, &id), 0);
    while (atomic_load(&id) == 0) sched_yield();
    const int known = atomic_load(&id);
    for (int i = 0; i < 5 && !seen; i++) {
        seen = busy_others(NULL, 0);
        assert_false(busy_others(&known, 1));
    }
    pthread_join(thread, NULL);
    assert_true(seen);
}

static void a_process_that_was_started_counts(void **state)
{
    for (int waited = 0; waited <= 1; waited++) { /* it lives on behind the work, or has ended */
        busy_span span;
        int done[2];
        char byte = 0;
        assert_int_equal(pipe(done), 0);
        busy_start(&span);
        const pid_t child = fork();
        if (child == 0) {
            work(NULL);
            if (write(done[1], &byte, 1) == 1 && !waited) pause();
            _exit(0);
        }
        assert_true(child > 0);
        work(NULL);
        assert_int_equal(read(done[0], &byte, 1), 1);
        if (waited) assert_int_equal(waitpid(child, NULL, 0), child);
        const busy_work w = busy_stop(&span, 1);
        if (!waited) assert_true(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
        close(done[0]);
        close(done[1]);
        assert_int_equal(w.threads, 2);
        assert_true(w.beyond > 0.3 * w.seconds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_was_started_counts),
        cmocka_unit_test(one_thread_is_one),
        cmocka_unit_test(a_thread_that_ended_counts),
        cmocka_unit_test(several_that_ended_are_told_by_their_sum),
        cmocka_unit_test(a_thread_that_lives_on_counts_while_it_works),
        cmocka_unit_test(what_is_set_aside_does_not_count),
        cmocka_unit_test(others_are_seen_while_they_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
