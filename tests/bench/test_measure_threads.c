/* test_measure_threads.c: threads that nobody asked for, and results that come when the call has returned; and who may
 * not be taken for either. */
#include "fake_add.h"

#include <pthread.h>
#include <time.h>

static double own_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *work(void *arg)
{
    const double until = own_seconds() + 3e-4;
    while (own_seconds() < until) continue;
    return arg;
}

static cnn_status add_in_two(cnn_context *context, const cnn_plan *plan, const cnn_join_args *args, cnn_error *err)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0) return CNN_FAIL(err, CNN_DEVICE, "no thread");
    work(NULL);
    pthread_join(thread, NULL);
    return add(context, plan, args, err);
}

typedef struct call {
    cnn_context *context;
    const cnn_plan *plan;
    const cnn_join_args *args;
    cnn_error *err;
} call;

static void *add_there(void *arg)
{
    const call *c = arg;
    (void)add(c->context, c->plan, c->args, c->err);
    return NULL;
}

/* One at a time: the calling thread sleeps meanwhile. */
static cnn_status add_handed_over(cnn_context *context, const cnn_plan *plan, const cnn_join_args *args, cnn_error *err)
{
    pthread_t thread;
    call c = {context, plan, args, err};
    if (pthread_create(&thread, NULL, add_there, &c) != 0) return CNN_FAIL(err, CNN_DEVICE, "no thread");
    pthread_join(thread, NULL);
    return CNN_OK;
}

/* The second half of y, later. */
static struct late {
    pthread_t thread;
    bool running;
    const float *a, *b;
    float *y;
    int64_t from, count;
} later;

static void *add_later(void *arg)
{
    struct late *l = arg;
    for (int i = 0; i < 100; i++) work(NULL);
    for (int64_t i = l->from; i < l->count; i++) l->y[i] = l->a[i] + l->b[i];
    return NULL;
}

static void join_later(void)
{
    if (later.running) pthread_join(later.thread, NULL);
    later.running = false;
}

static cnn_status add_half(cnn_context *context, const cnn_plan *plan, const cnn_join_args *args, cnn_error *err)
{
    const cnn_add_desc *d = &plan->problem.u.add;
    const int64_t count = d->mb * d->ic * d->ih * d->iw;
    join_later();
    later = (struct late){.a = args->x[0], .b = args->x[1], .y = args->y, .from = count / 2, .count = count};
    for (int64_t i = 0; i < later.from; i++) later.y[i] = later.a[i] + later.b[i];
    later.running = pthread_create(&later.thread, NULL, add_later, &later) == 0;
    return later.running ? CNN_OK : CNN_FAIL(err, CNN_DEVICE, "no thread");
}

typedef cnn_status add_fn(cnn_context *, const cnn_plan *, const cnn_join_args *, cnn_error *);

/* The state that it comes to, with as many threads. */
static candidate_state run(add_fn *how, int threads, char reason[256])
{
    bench_fixture f;
    cnn_error err;
    cnn_impl impl = fake;
    cnn_operations ops = fake_ops;
    const measure_params params = {.min_time = 0.01, .max_time = 0.05, .noise = 0.05};
    set_up(&f);
    ops.add_fwd = how;
    impl.ops = &ops;
    f.session.impl = &impl;
    f.session.threads = threads;
    assert_int_equal(candidates_time(f.list, 1, &f.c, &params, &err), CNN_OK);
    join_later();
    snprintf(reason, 256, "%.255s", f.list[0].reason);
    const candidate_state state = f.list[0].state;
    tear_down(&f);
    return state;
}

static void more_threads_than_asked_for_are_found(void **state)
{
    char reason[256];
    assert_int_equal(run(add_in_two, 1, reason), CANDIDATE_WRONG);
    assert_non_null(strstr(reason, "it keeps 2 threads busy where 1 was asked for"));
    assert_int_equal(run(add_in_two, 2, reason), CANDIDATE_TIMED);
}

/* What sanitizers do for a thread that begins and ends, many times what it costs, would count. On a busy host a thread
 * may cost more than is allowed: three attempts. */
static void handing_over_is_no_second_thread(void **state)
{
    char reason[256];
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    skip();
#endif
    candidate_state came_to = run(add_handed_over, 1, reason);
    for (int i = 1; i < 3 && came_to != CANDIDATE_TIMED; i++) came_to = run(add_handed_over, 1, reason);
    assert_int_equal(came_to, CANDIDATE_TIMED);
    assert_int_equal(run(add, 1, reason), CANDIDATE_TIMED);
}

/* It is a race, which the thread sanitizer tells of itself. */
static void what_comes_late_is_found(void **state)
{
    char reason[256];
#ifdef __SANITIZE_THREAD__
    skip();
#endif
    assert_int_equal(run(add_half, 2, reason), CANDIDATE_WRONG);
    assert_non_null(strstr(reason, "wrote y after it had returned"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_threads_than_asked_for_are_found),
        cmocka_unit_test(handing_over_is_no_second_thread),
        cmocka_unit_test(what_comes_late_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
