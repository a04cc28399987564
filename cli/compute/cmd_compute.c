/* cmd_compute.c: `benchcnn compute`: one operation on arrays from .npy files, its results to .npy files, and, with
 * --expect, against what another program made of the same arrays. */
#include "cli/sessions.h"
#include "cli/verify/report.h"
#include "harness/data/npy.h"
#include "harness/problem/names.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- The implementation. */

static cnn_status one_choice(const cli_options *o, cnn_choice *choice, cnn_error *err)
{
    static cnn_choice choices[CNN_MAX_CHOICES]; /* large: kept off the stack */
    int count;
    if (o->impl == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "compute needs --impl NAME[:ALGORITHM]");
    cnn_status status = cnn_choices_parse(o->registry, o->impl, choices, &count, err);
    if (status != CNN_OK) return status;
    if (count != 1 || strpbrk(o->impl, "*?[") != NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--impl is '%.64s', but compute runs one implementation: NAME[:ALGORITHM]", o->impl);
    *choice = choices[0];
    return CNN_OK;
}

static cnn_status open_engine(compute_run *r, cnn_error *err)
{
    cnn_choice choice;
    const cnn_session_params params = cli_session_params(r->options);
    const verify_options options = {.reference_threads = params.threads};
    cnn_status status = one_choice(r->options, &choice, err);
    if (status != CNN_OK) return status;
    const char *pattern = choice.pattern[0] != '\0' ? choice.pattern : NULL;
    status = verify_open(choice.impl, &params, &options, &r->engine, err);
    if (status == CNN_OK)
        status =
            cnn_algorithm_pick(verify_session(r->engine), &r->call.problem, r->call.dir, pattern, &r->algorithm, err);
    if (status == CNN_OK && pattern != NULL && strcmp(pattern, r->algorithm.name) != 0)
        status = CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s has no algorithm %s for this problem; see `benchcnn list`",
                          choice.impl->name, pattern);
    return status;
}

/* ---- What came out. */

/* As verify reports a case; but where nothing is expected, nothing is proved, and the run is no more than done. */
static cnn_status report(const compute_run *r, const verify_result *v, record_sink *sink, cnn_error *err)
{
    const cli_options *o = r->options;
    const cnn_type *type = &r->call.problem.u.type;
    verify_report to = {.options = o, .output = {.sink = sink}, .sums = (verify_sums *)o->watch->kept};
    char text[CNN_PROBLEM_TEXT_MAX];
    const report_case now = {.session = v->session,
                             .algorithm = v->algorithm,
                             .what = text,
                             .problem = &r->call.problem,
                             .dir = r->call.dir,
                             .type = *type,
                             .command = o->command_line};
    cnn_problem_format(&r->call.problem, text);
    report_begin(&to, &now);
    report_result(&to, v);
    if (o->expect != NULL || v->state != VERIFY_PASSED)
        report_end(&to);
    else if (!o->json)
        printf("DONE        %s:%s %s %s %s %s %s\n", v->session->impl->name, v->algorithm,
               cnn_op_name(r->call.problem.op), cnn_dir_name(r->call.dir), text, cnn_dtype_name(type->dtype),
               cnn_layout_name(type->layout));
    if (to.write_status != CNN_OK) *err = to.write_error;
    return to.write_status;
}

cnn_status args_compute(const cli_options *o, cnn_error *err)
{
    compute_run r = {.options = o};
    cnn_choice choice;
    const cnn_status status = o->none_left ? CNN_OK : one_choice(o, &choice, err);
    return status == CNN_OK ? compute_read_options(&r, err) : status;
}

static cnn_status run(compute_run *r, record_sink *sink, verify_result *result, cnn_error *err)
{
    cnn_status status = compute_load(r, err);
    if (status == CNN_OK) status = open_engine(r, err);
    if (status == CNN_OK)
        status = verify_run_arrays(r->engine, &r->call.problem, r->call.dir, &r->algorithm, &r->arrays, result, err);
    for (int i = 0; status == CNN_OK && i < r->call.count; i++)
        if (r->out_path[i] != NULL)
            status = npy_save_operand(r->out_path[i], &r->call.operands[i], r->values[i],
                                      cnn_elem_dtype(&r->call.problem.u.type, r->call.operands[i].elem), err);
    return status == CNN_OK ? report(r, result, sink, err) : status;
}

int cmd_compute(const cli_options *options, cnn_error *err)
{
    compute_run r = {.options = options};
    verify_result result = {.state = VERIFY_FAILED};
    record_sink *sink = NULL;
    bool mine = false;
    cnn_status status = cli_sink_json(options, &sink, err);
    if (status == CNN_OK) status = cli_report_lost(options, sink, &options->watch->failed, err);
    if (status == CNN_OK && !options->none_left)
        status = cli_begin_piece(options, 0, options->impl, "computing with it", sink, &mine, err);
    if (status == CNN_OK && mine) status = run(&r, sink, &result, err);
    for (int i = 0; i < CNN_MAX_OPERANDS; i++) {
        free(r.values[i]);
        free(r.arrays.expect[i]);
    }
    verify_close(r.engine);
    if (mine) cli_end_piece(options);
    record_sink_close(sink);
    if (status != CNN_OK) return cli_fail(err);
    return result.state > VERIFY_PASSED ? EXIT_FAILED : EXIT_HELD;
}
