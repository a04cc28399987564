/* plain.c: `bench --runs N`: what is chosen runs N times, for the profiler or debugger around the program. */
#include "bench/measure/plain_runs.h"
#include "cli/table.h"
#include "harness/cpu/threads.h"
#include "harness/problem/names.h"
#include "parts.h"

static cnn_status make_data(const bench *b, const cnn_problem *problem, cnn_dir dir, vf_case *c, cnn_error *err)
{
    thread_pool *pool;
    cnn_status status = thread_pool_open(b->sessions.list[0].threads, &pool, err);
    if (status != CNN_OK) return status;
    status = vf_case_make(c, problem, dir, VF_DATA, 0, (uint64_t)b->options->seed, pool, err);
    c->call.pool = NULL; /* it ends before the case does */
    thread_pool_close(pool);
    return status;
}

/* One line each; a refusal or a failure is not the command's own. */
static cnn_status run_one(bench *b, const candidate *c, const vf_case *data, const char *text, cnn_error *err)
{
    char name[CNN_PROBLEM_TEXT_MAX + 3 * CNN_NAME_MAX];
    const cnn_problem *p = &data->problem;
    snprintf(name, sizeof name, "%s:%s %s %s %s %s %s", c->session->impl->name, c->algorithm.name, cnn_op_name(p->op),
             cnn_dir_name(data->call.dir), text, cnn_dtype_name(p->u.type.dtype), cnn_layout_name(p->u.type.layout));
    const plain_runs runs = {.session = c->session,
                             .algorithm = &c->algorithm,
                             .c = data,
                             .name = name,
                             .runs = b->options->runs,
                             .stop = interrupt_seen};
    const cnn_status status =
        c->reason[0] != '\0' ? CNN_FAIL(err, CNN_DEVICE, "%s", c->reason) : plain_runs_do(&runs, err);
    if (status == CNN_INTERRUPTED) return status;
    if (!b->options->json && status == CNN_OK) table_put(stdout, "RAN         %s\n", name);
    if (!b->options->json && status != CNN_OK)
        table_put(stdout, "%s %s | %s\n", status == CNN_UNSUPPORTED ? "UNSUPPORTED" : "FAILED     ", name,
                  err->message);
    *(status == CNN_OK ? &b->sums->timed : status == CNN_UNSUPPORTED ? &b->sums->unsupported : &b->sums->failed) += 1;
    return CNN_OK;
}

cnn_status bench_run_plainly(bench *b, const candidate *list, int count, const cnn_problem *problem, cnn_dir dir,
                             cnn_error *err)
{
    char text[CNN_PROBLEM_TEXT_MAX];
    vf_case data;
    cnn_problem_format(problem, text);
    cnn_status status = make_data(b, problem, dir, &data, err);
    if (status != CNN_OK) return status;
    for (int i = 0; status == CNN_OK && i < count; i++) {
        bench_in_hand(b, &list[i]);
        status = run_one(b, &list[i], &data, text, err);
    }
    vf_case_free(&data);
    return status;
}
