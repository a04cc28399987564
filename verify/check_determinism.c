/* check_determinism.c: the same bits in repeated runs and, on CPUs, for 1, 2, 3 and the session's number of threads;
 * under stress; with options->all_bits also in two contexts at the same time, and for an image alone as within its
 * batch.
 *
 * Catches races, kernels that are wrong after some calls, sums whose order depends on who comes first, kernels that cut
 * their work by the thread count, state that contexts share. An algorithm that does not claim CNN_ALGO_DETERMINISTIC
 * may differ: that is stated, not failed. Nobody claims that an image alone gives the bits that it gives within a
 * batch: that is stated, too. */
#include "engine.h"

#include "harness/base/clock.h"
#include "harness/base/rng.h"
#include "harness/cpu/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { REPEATS = 2 };

/* FNV-1a over the bytes of all outputs; never 0. */
static uint64_t digest_of(const vf_case *c, const vf_run *run)
{
    uint64_t hash = 1469598103934665603u;
    for (int i = 0; i < c->call.count; i++)
        for (size_t b = 0; run->bytes[i] != NULL && b < c->call.operands[i].bytes; b++)
            hash = (hash ^ ((const unsigned char *)run->bytes[i])[b]) * 1099511628211u;
    return hash != 0 ? hash : 1;
}

/* Two runs, the second `when`. */
static void judge(const vf_subject *s, verify_same aspect, const vf_case *c, const vf_run *first, const vf_run *run,
                  const char *when, int threads, verify_result *result)
{
    const char *name = vf_run_difference(c, first, run);
    char *same = &result->bits.same[aspect], what[256];
    if (*same == 0) *same = 'y';
    if (name == NULL) return;
    *same = 'n';
    vf_run_describe(c, first, run, what, sizeof what);
    if (s->algorithm->flags & CNN_ALGO_DETERMINISTIC)
        vf_set(result, VERIFY_FAILED, "%s differs %s (threads: %d): %s", name, when, threads, what);
    else
        vf_set(result, VERIFY_PASSED, "not deterministic, as stated: %s differs %s (threads: %d): %s", name, when,
               threads, what);
}

/* The same bits, run after run, may be wrong ones by now: what held until here is held to its bound once more. */
static void judge_last(const vf_subject *s, const vf_case *c, const vf_run *run, verify_result *result)
{
    verify_result last = *result;
    if (s->failed || vf_is_huge(&s->engine->options, s->problem)) return;
    vf_judge(c, run, &s->rounding, &last, NULL);
    if (last.state == VERIFY_FAILED) *result = last;
}

/* A session and a plan beside the engine's own. */
typedef struct second {
    cnn_session session;
    cnn_plan plan;
    vf_place place;
    bool planned;
} second;

static void second_close(second *o)
{
    vf_place_leave(&o->place);
    if (o->planned) cnn_plan_release(&o->session, &o->plan);
    if (o->session.impl != NULL) cnn_session_close(&o->session);
}

/* The subject's buffers are left: there was room for one run's and a plan. */
static cnn_status second_open(second *o, const vf_subject *s, int threads, const cnn_problem *problem, cnn_error *err)
{
    cnn_session_params params = s->engine->params;
    memset(o, 0, sizeof *o);
    o->place = (vf_place){.session = &o->session, .plan = &o->plan};
    params.threads = threads;
    vf_place_leave(s->place);
    cnn_status status = vf_go_on(&s->engine->options, err);
    if (status == CNN_OK) status = cnn_session_open(s->engine->impl, &params, &o->session, err);
    if (status == CNN_OK)
        status = cnn_plan_make(&o->session, &(cnn_request){problem, s->dir, s->offered, NULL}, &o->plan, err);
    o->planned = status == CNN_OK;
    if (status != CNN_OK) second_close(o);
    return status;
}

/* Runs with `threads` threads in a session of its own and compares. Who does not take the problem with so many, for
 * lack of the workspace that is allowed for instance, is not asked. */
static cnn_status try_threads(const vf_subject *s, const vf_case *c, const vf_run *first, int threads,
                              verify_result *result, cnn_error *err)
{
    second other;
    vf_run run;
    cnn_status status = second_open(&other, s, threads, s->problem, err);
    if (status == CNN_UNSUPPORTED) return CNN_OK;
    if (status != CNN_OK) return status;
    status = vf_run_make(&run, &other.place, c, &(vf_run_options){0}, err);
    if (status == CNN_OK) {
        judge(s, VERIFY_SAME_THREADS, c, first, &run, "with another number of threads", threads, result);
        vf_run_free(&run);
    }
    second_close(&other);
    return status;
}

/* ---- Stress: more threads than cores, while others take the cores at random moments. What a lucky schedule hides,
 * such as two threads that share a scratch row, comes out so. */

enum { STRESS_RUNS = 8, DISTURBERS_MAX = 16 };
static const double stress_flops = 2e7; /* a race in larger ones is one in smaller ones */

typedef struct disturber {
    pthread_t thread;
    bool started;
    cnn_rng rng;
    atomic_int id; /* 0: it has not begun */
    atomic_bool *stop;
} disturber;

typedef struct crowd {
    disturber list[DISTURBERS_MAX];
    int count;
} crowd;

/* Computes for a random while, then yields or sleeps. */
static void *disturb(void *arg)
{
    disturber *d = arg;
    atomic_store(&d->id, gettid());
    while (!atomic_load(d->stop)) {
        const double until = cnn_now() + 1e-6 * (double)rng_int(&d->rng, 1, 200);
        while (cnn_now() < until) continue;
        const struct timespec pause = {.tv_nsec = (long)rng_int(&d->rng, 0, 100000)};
        if (pause.tv_nsec < 30000)
            sched_yield();
        else
            nanosleep(&pause, NULL);
    }
    return NULL;
}

static cnn_status run_stressed(const vf_subject *s, const vf_case *c, const vf_run *first, second *other,
                               crowd *disturbers, verify_result *result, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < STRESS_RUNS; i++) {
        vf_run run;
        int ids[DISTURBERS_MAX];
        for (int k = 0; k < disturbers->count; k++) ids[k] = atomic_load(&disturbers->list[k].id);
        status = vf_run_make(&run, &other->place, c, &(vf_run_options){.own = ids, .n_own = disturbers->count}, err);
        if (status != CNN_OK) break;
        judge(s, VERIFY_SAME_RUNS, c, first, &run, "while other work takes the cores at random", other->session.threads,
              result);
        vf_run_free(&run);
    }
    return status;
}

static cnn_status try_stress(const vf_subject *s, const vf_case *c, const vf_run *first, verify_result *result,
                             cnn_error *err)
{
    const int cores = cpu_count(), count = cores < DISTURBERS_MAX ? cores : DISTURBERS_MAX;
    crowd disturbers = {.count = count};
    disturber *list = disturbers.list;
    atomic_bool stop = false;
    second other;
    cnn_status status = second_open(&other, s, 2 * count + 1, s->problem, err);
    if (status == CNN_UNSUPPORTED) return CNN_OK;
    if (status != CNN_OK) return status;
    for (int i = 0; i < count; i++) {
        list[i].rng = rng_stream(s->engine->options.seed, 5000 + (uint64_t)i);
        list[i].stop = &stop;
        list[i].started = pthread_create(&list[i].thread, NULL, disturb, &list[i]) == 0;
    }
    status = run_stressed(s, c, first, &other, &disturbers, result, err);
    atomic_store(&stop, true);
    for (int i = 0; i < count; i++)
        if (list[i].started) pthread_join(list[i].thread, NULL);
    second_close(&other);
    return status;
}

/* ---- Two contexts at the same time, each with a host thread and a stream of its own. */

typedef struct lane {
    vf_place *place;
    const vf_case *c;
    vf_run run;
    cnn_status status;
    cnn_error err;
} lane;

static void *run_lane(void *arg)
{
    lane *l = arg;
    l->status = vf_run_make(&l->run, l->place, l->c, &(vf_run_options){0}, &l->err);
    return NULL;
}

/* The second one has a host thread of its own, so that both do run at a time. */
static cnn_status try_contexts(const vf_subject *s, const vf_case *c, const vf_run *first, verify_result *result,
                               cnn_error *err)
{
    second other;
    pthread_t thread;
    lane lanes[2] = {{.place = s->place, .c = c}};
    cnn_status status = second_open(&other, s, s->engine->session.threads, s->problem, err);
    if (status != CNN_OK) return status;
    lanes[1] = (lane){.place = &other.place, .c = c};
    if (pthread_create(&thread, NULL, run_lane, &lanes[1]) != 0) {
        second_close(&other);
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no thread for a second context");
    }
    run_lane(&lanes[0]);
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++) {
        if (status == CNN_OK && lanes[i].status != CNN_OK) status = lanes[i].status, *err = lanes[i].err;
        if (status == CNN_OK)
            judge(s, VERIFY_SAME_CONTEXTS, c, first, &lanes[i].run, "while two contexts run",
                  s->engine->session.threads, result);
        vf_run_free(&lanes[i].run);
    }
    second_close(&other);
    return status;
}

/* ---- An image alone. */

/* The problem with one image; false where images mean nothing or are not independent. */
static bool alone(const cnn_problem *problem, cnn_dir dir, cnn_problem *one)
{
    *one = *problem;
    if (dir == CNN_BWD_W || !cnn_is_weighted(problem)) return false;
    int64_t *mb = cnn_is_conv(problem) ? &one->u.conv.mb : &one->u.fc.mb;
    if (*mb == 1) return false;
    *mb = 1;
    return true;
}

/* The case of image `image` of `c`; `one` was made for one image. */
static void take_image(vf_case *one, const vf_case *c, int64_t image)
{
    for (int i = 0; i < one->call.count; i++) {
        const int64_t count = one->call.operands[i].count;
        if (one->before[i] == NULL) continue;
        const double *from = c->before[i] + (c->call.operands[i].count == count ? 0 : image * count);
        memcpy(one->before[i], from, (size_t)count * sizeof(double));
    }
}

static bool same_image(const vf_case *one, const vf_run *run, const vf_run *whole, int64_t image)
{
    for (int i = 0; i < one->call.count; i++) {
        const size_t count = (size_t)one->call.operands[i].count;
        if (run->after[i] == NULL) continue;
        if (memcmp(run->after[i], whole->after[i] + (size_t)image * count, count * sizeof(double)) != 0) return false;
    }
    return true;
}

/* The first and the last image of the batch. An algorithm that does not take a single image is not asked. */
static cnn_status try_position(const vf_subject *s, const vf_case *c, const vf_run *whole, verify_result *result,
                               cnn_error *err)
{
    cnn_problem problem;
    vf_case one;
    second other;
    if (!alone(s->problem, s->dir, &problem)) return CNN_OK;
    cnn_status status = second_open(&other, s, s->engine->session.threads, &problem, err);
    if (status == CNN_UNSUPPORTED) return CNN_OK;
    if (status != CNN_OK) return status;
    status = vf_case_make(&one, &problem, s->dir, VF_DATA, 0, s->engine->options.seed, NULL, err);
    const int64_t images = cnn_is_conv(s->problem) ? s->problem->u.conv.mb : s->problem->u.fc.mb;
    for (int64_t image = 0; status == CNN_OK && image < images; image += images - 1) {
        vf_run run;
        take_image(&one, c, image);
        status = vf_run_make(&run, &other.place, &one, &(vf_run_options){0}, err);
        if (status != CNN_OK) break;
        char *same = &result->bits.same[VERIFY_SAME_POSITION];
        if (*same != 'n') *same = same_image(&one, &run, whole, image) ? 'y' : 'n';
        vf_run_free(&run);
    }
    vf_case_free(&one);
    second_close(&other);
    return status;
}

/* All runs are compared with the first. */
cnn_status vf_check_determinism(const vf_subject *s, verify_result *result, cnn_error *err)
{
    const cnn_session *session = &s->engine->session;
    const bool cpu = s->engine->impl->device_kind == CNN_DEVICE_CPU, all = s->engine->options.all_bits;
    const vf_case *c;
    vf_run first, run;
    cnn_status status = vf_case_get(s, VF_REALS, 0, &c, err);
    if (status == CNN_OK) status = vf_run_make(&first, s->place, c, &(vf_run_options){0}, err);
    if (status != CNN_OK) return status;
    for (int i = 0; status == CNN_OK && i < REPEATS; i++) {
        status = vf_go_on(&s->engine->options, err);
        if (status == CNN_OK) status = vf_run_make(&run, s->place, c, &(vf_run_options){0}, err);
        if (status != CNN_OK) break;
        judge(s, VERIFY_SAME_RUNS, c, &first, &run, "between runs", session->threads, result);
        if (i == REPEATS - 1) judge_last(s, c, &run, result);
        vf_run_free(&run);
    }
    for (int threads = 1; status == CNN_OK && threads <= 3; threads++)
        if (cpu && threads != session->threads) status = try_threads(s, c, &first, threads, result, err);
    const bool small = cnn_flops(s->problem, s->dir) < stress_flops;
    if (status == CNN_OK && cpu && small) status = try_stress(s, c, &first, result, err);
    if (status == CNN_OK && all) status = try_contexts(s, c, &first, result, err);
    if (status == CNN_OK && all) status = try_position(s, c, &first, result, err);
    if (status == CNN_OK && all) result->bits.digest = digest_of(c, &first);
    vf_run_free(&first);
    return status;
}
