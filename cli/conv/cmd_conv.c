/* cmd_conv.c: `benchcnn conv`: one convolution of arrays from .npy files, its result to a .npy file, and, with
 * --expect, against what another program made of the same arrays.
 *
 * The arrays say the dtype (all of them the same), the files the bias: FWD has one with --b, BWD_W writes its gradient
 * to a second file of --out. Shapes are PyTorch's whatever --layout, which is what the implementation is given. */
#include "cli/cli.h"
#include "cli/sessions.h"
#include "cli/verify/report.h"
#include "harness/data/npy.h"
#include "harness/problem/names.h"
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 4096, RESULTS_MAX = 2 };

typedef struct file_names { /* a file a result: "DW.npy,DB.npy" */
    char text[NAMES_MAX];
    const char *path[RESULTS_MAX]; /* NULL: not named */
} file_names;

typedef struct conv_run {
    const cli_options *options;
    file_names out, expect;
    cnn_problem problem;
    cnn_dir dir;
    cnn_algorithm algorithm;
    cnn_operand operands[CNN_MAX_OPERANDS];
    const char *path[CNN_MAX_OPERANDS], *expect_path[CNN_MAX_OPERANDS]; /* an operand's file; NULL: none */
    int count;
    verify_arrays arrays;
    double *values[CNN_MAX_OPERANDS];
    verify_engine *engine;
} conv_run;

/* ---- What options say. */

static cnn_status split(const conv_run *r, const char *option, const char *given, file_names *names, cnn_error *err)
{
    if (given == NULL) return CNN_OK;
    if (strlen(given) >= sizeof names->text)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s %.64s... is too long", option, given);
    char *rest = strcpy(names->text, given);
    for (int i = 0; rest != NULL && i < RESULTS_MAX; i++) names->path[i] = strsep(&rest, ",");
    if (names->path[1] == NULL) return CNN_OK;
    if (r->dir != CNN_BWD_W)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s %.200s names two files, but --dir %s has one result", option,
                        given, cnn_dir_name(r->dir));
    if (rest == NULL && *names->path[0] != '\0' && *names->path[1] != '\0') return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s '%.200s' is not of the form DW.npy,DB.npy", option, given);
}

static cnn_status parse_problem(conv_run *r, cnn_error *err)
{
    const cli_options *o = r->options;
    const int layout = cnn_name_find(&cnn_layout_names, o->layout, err);
    const int math = layout < 0 ? -1 : cnn_name_find(&cnn_math_names, o->math, err);
    if (math < 0) return err->status;
    if (o->problem.count != 1)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "conv needs one --problem, not %d", o->problem.count);
    const cnn_type type = {CNN_F32, CNN_F32, (cnn_layout)layout, (cnn_math)math};
    cnn_problem_defaults defaults = cli_problem_defaults(o, &type);
    defaults.no_bias = (r->dir == CNN_BWD_W ? r->out.path[1] : o->b) == NULL;
    return cnn_problem_parse(CNN_OP_CONV, o->problem.items[0], &defaults, &r->problem, err);
}

/* Inputs have an option of their name; outputs are those of --out, in order. What this direction has no use for, and
 * what it lacks, is refused. */
static cnn_status assign_files(conv_run *r, cnn_error *err)
{
    const cli_options *o = r->options;
    const char *const inputs[][2] = {{"x", o->x}, {"w", o->w}, {"b", o->b}, {"dy", o->dy}};
    int result = 0;
    for (size_t k = 0; k < sizeof inputs / sizeof inputs[0]; k++) {
        int i = 0;
        while (i < r->count && strcmp(r->operands[i].name, inputs[k][0]) != 0) i++;
        if (i < r->count)
            r->path[i] = inputs[k][1];
        else if (inputs[k][1] != NULL)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s does not go with --dir %s", inputs[k][0],
                            cnn_dir_name(r->dir));
    }
    for (int i = 0; i < r->count; i++) {
        const bool in = r->operands[i].access == CNN_IN;
        if (!in) {
            r->path[i] = r->out.path[result];
            r->expect_path[i] = r->expect.path[result++];
        }
        if (r->path[i] == NULL)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--dir %s needs --%s FILE.npy", cnn_dir_name(r->dir),
                            in ? r->operands[i].name : "out");
    }
    return CNN_OK;
}

/* No output over an array that was given, nor over the other output. */
static cnn_status keep_apart(const conv_run *r, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < r->count; i++)
        for (int k = 0; r->operands[i].access != CNN_IN && status == CNN_OK && k < r->count; k++) {
            char option[CNN_NAME_MAX];
            snprintf(option, sizeof option, "--%s", r->operands[k].access == CNN_IN ? r->operands[k].name : "out");
            if (k != i) status = cli_keep_apart(r->path[i], option, r->path[k], err);
            if (status == CNN_OK) status = cli_keep_apart(r->path[i], "--expect", r->expect_path[k], err);
        }
    return status;
}

/* Shapes do not depend on the dtype, which the inputs will tell: until then it is f32. */
static cnn_status read_options(conv_run *r, cnn_error *err)
{
    const cli_options *o = r->options;
    if (o->dir == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "conv needs --dir: FWD, BWD_D or BWD_W");
    const int dir = cnn_name_find(&cnn_dir_names, o->dir, err);
    if (dir < 0) return err->status;
    r->dir = (cnn_dir)dir;
    cnn_status status = split(r, "out", o->out, &r->out, err);
    if (status == CNN_OK) status = split(r, "expect", o->expect, &r->expect, err);
    if (status == CNN_OK && r->expect.path[1] != NULL && r->out.path[1] == NULL)
        status =
            CNN_FAIL(err, CNN_BAD_ARGUMENT, "--expect names a gradient of the bias: --out needs a second file, too");
    if (status == CNN_OK) status = parse_problem(r, err);
    if (status != CNN_OK) return status;
    r->count = cnn_operands(&r->problem, r->dir, r->operands, err);
    if (r->count < 0) return err->status;
    status = assign_files(r, err);
    return status == CNN_OK ? keep_apart(r, err) : status;
}

/* ---- Arrays. */

static cnn_status make_output(conv_run *r, int i, cnn_error *err)
{
    const cnn_operand *o = &r->operands[i];
    r->arrays.out[i] = r->values[i] = malloc((size_t)o->count * sizeof(double));
    if (r->values[i] == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %s", o->name);
    if (r->expect_path[i] == NULL) return CNN_OK;
    return npy_load_operand(r->expect_path[i], o, &r->arrays.expect[i], &r->arrays.computed[i], err);
}

/* The inputs tell the dtype, which must be one. */
static cnn_status load_all(conv_run *r, cnn_error *err)
{
    const char *first = NULL;
    cnn_dtype dtype = CNN_F32, its = CNN_F32;
    cnn_status status = read_options(r, err);
    for (int i = 0; status == CNN_OK && i < r->count; i++) {
        if (r->operands[i].access != CNN_IN) {
            status = make_output(r, i, err);
            continue;
        }
        status = npy_load_operand(r->path[i], &r->operands[i], &r->values[i], &its, err);
        if (status == CNN_OK && first != NULL && its != dtype)
            status = CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s is %s, but %s is %s: all arrays must have one type",
                              r->path[i], cnn_dtype_name(its), first, cnn_dtype_name(dtype));
        dtype = its;
        first = r->path[i];
        r->arrays.in[i] = r->values[i];
    }
    r->problem.u.type.dtype = r->problem.u.type.weights = dtype;
    return status == CNN_OK ? cnn_problem_check(&r->problem, err) : status;
}

/* ---- The implementation. */

static cnn_status one_choice(const cli_options *o, cnn_choice *choice, cnn_error *err)
{
    static cnn_choice choices[CNN_MAX_CHOICES]; /* large: kept off the stack */
    int count;
    if (o->impl == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "conv needs --impl NAME[:ALGORITHM]");
    cnn_status status = cnn_choices_parse(o->registry, o->impl, choices, &count, err);
    if (status != CNN_OK) return status;
    if (count != 1 || strpbrk(o->impl, "*?[") != NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--impl is '%.64s', but conv runs one implementation: NAME[:ALGORITHM]",
                        o->impl);
    *choice = choices[0];
    return CNN_OK;
}

static cnn_status open_engine(conv_run *r, cnn_error *err)
{
    cnn_choice choice;
    const cnn_session_params params = cli_session_params(r->options);
    const verify_options options = {.reference_threads = params.threads};
    cnn_status status = one_choice(r->options, &choice, err);
    if (status != CNN_OK) return status;
    const char *pattern = choice.pattern[0] != '\0' ? choice.pattern : NULL;
    status = verify_open(choice.impl, &params, &options, &r->engine, err);
    if (status == CNN_OK)
        status = cnn_algorithm_pick(verify_session(r->engine), &r->problem, r->dir, pattern, &r->algorithm, err);
    if (status == CNN_OK && pattern != NULL && strcmp(pattern, r->algorithm.name) != 0)
        status = CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s has no algorithm %s for this problem; see `benchcnn list`",
                          choice.impl->name, pattern);
    return status;
}

/* ---- What came out. */

/* As verify reports a case; but where nothing is expected, nothing is proved, and the run is no more than done. */
static cnn_status report(const conv_run *r, verify_result *v, record_sink *sink, cnn_error *err)
{
    const cli_options *o = r->options;
    const cnn_type *type = &r->problem.u.type;
    verify_report to = {.options = o, .output = {.sink = sink}, .sums = (verify_sums *)o->watch->kept};
    char text[CNN_PROBLEM_TEXT_MAX];
    const report_case now = {.session = v->session,
                             .algorithm = v->algorithm,
                             .what = text,
                             .problem = &r->problem,
                             .dir = r->dir,
                             .type = *type,
                             .command = o->command_line};
    cnn_problem_format(&r->problem, text);
    if (v->state > VERIFY_PASSED && v->budget_used <= 1.0)
        v->worst[0] = '\0'; /* it is what was expected that is wrong */
    report_begin(&to, &now);
    report_result(&to, v);
    if (o->expect != NULL || v->state != VERIFY_PASSED)
        report_end(&to);
    else if (!o->json)
        printf("DONE        %s:%s conv %s %s %s %s\n", v->session->impl->name, v->algorithm, cnn_dir_name(r->dir), text,
               cnn_dtype_name(type->dtype), cnn_layout_name(type->layout));
    if (to.write_status != CNN_OK) *err = to.write_error;
    return to.write_status;
}

cnn_status args_conv(const cli_options *o, cnn_error *err)
{
    conv_run r = {.options = o};
    cnn_choice choice;
    const cnn_status status = o->none_left ? CNN_OK : one_choice(o, &choice, err);
    return status == CNN_OK ? read_options(&r, err) : status;
}

static cnn_status run(conv_run *r, record_sink *sink, verify_result *result, cnn_error *err)
{
    cnn_status status = load_all(r, err);
    if (status == CNN_OK) status = open_engine(r, err);
    if (status == CNN_OK)
        status = verify_run_arrays(r->engine, &r->problem, r->dir, &r->algorithm, &r->arrays, result, err);
    for (int i = 0; status == CNN_OK && i < r->count; i++)
        if (r->arrays.out[i] != NULL)
            status = npy_save_operand(r->path[i], &r->operands[i], r->values[i], r->problem.u.type.dtype, err);
    return status == CNN_OK ? report(r, result, sink, err) : status;
}

int cmd_conv(const cli_options *options, cnn_error *err)
{
    conv_run r = {.options = options};
    verify_result result = {.state = VERIFY_FAILED};
    record_sink *sink = NULL;
    bool mine = false;
    cnn_status status = record_sink_open(NULL, options->json, &sink, err);
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
