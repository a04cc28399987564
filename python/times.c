/* times.c: times of one operation with one implementation, each timed run judged. See api.h. */
#include "parts.h"

#include "bench/measure/measure.h"

static void fill(const api_problem *p, const measure_result *r, api_times *times)
{
    *times = (api_times){.median = r->stats.median,
                         .least = r->stats.min,
                         .low = r->stats.low,
                         .high = r->stats.high,
                         .count = r->stats.count,
                         .repeats = r->repeats,
                         .workspace_bytes = r->workspace_bytes,
                         .flops = cnn_flops(&p->problem, p->dir),
                         .bytes = cnn_bytes(&p->problem, p->dir)};
    (void)bench_marks_text(r->stats.marks, times->marks, sizeof times->marks);
}

static cnn_status run(api_engine *e, const api_problem *p, const api_bench_params *params, const vf_case *c,
                      api_times *times, api_each *each, cnn_error *err)
{
    const measure_params how = {.min_time = params->min_time,
                                .max_time = params->max_time,
                                .noise = MEASURE_NOISE,
                                .warm_up = params->warm_up,
                                .cold = params->cold != 0,
                                .stop = e->interrupted};
    const cnn_session *session = verify_session(e->engine);
    cnn_algorithm algorithm;
    clock_watch *watch = NULL;
    measure *m = NULL;
    measure_result result;
    cnn_status status = api_pick(e, p, &algorithm, err);
    if (status == CNN_OK) status = clock_watch_open(session, &watch, err);
    if (status == CNN_OK) {
        const measure_setting setting = {.c = c, .algorithm = &algorithm, .watch = watch, .params = &how};
        status = measure_open(session, &setting, &m, err);
    }
    while (status == CNN_OK && !measure_done(m)) status = measure_turn(m, err);
    if (status == CNN_OK) status = measure_finish(m, &result, err);
    if (status == CNN_OK) {
        fill(p, &result, times);
        api_tell(&result.check, each);
    }
    measure_close(m);
    clock_watch_close(watch);
    return status;
}

cnn_status api_bench(api_engine *engine, const api_problem *problem, const api_bench_params *params, api_times *times,
                     api_each *each, cnn_error *err)
{
    const locale_t locale = api_enter();
    const cnn_session *session = verify_session(engine->engine);
    thread_pool *pool = NULL;
    vf_case c;
    cnn_status status = CNN_OK;
    if (!cnn_impl_timed(session->impl))
        status = CNN_FAIL(err, CNN_UNSUPPORTED, "%s is emulated: its times would mean nothing", session->impl->name);
    if (status == CNN_OK) status = thread_pool_open(session->threads, &pool, err);
    if (status == CNN_OK) {
        status = vf_case_make(&c, &problem->problem, problem->dir, VF_REALS, 0, params->seed, pool, err);
        if (status == CNN_OK) {
            status = run(engine, problem, params, &c, times, each, err);
            vf_case_free(&c);
        }
    }
    thread_pool_close(pool);
    api_leave(locale);
    return status;
}
