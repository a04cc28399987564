/* report.c: lines for people, records for programs. Whatever did not pass says why and how to repeat it. */
#include "report.h"

#include "cli/table.h"

#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "verify/summation/summation.h"
#include "verify/verify.h"

#include <math.h>
#include <string.h>

static const char REFUSED[] = "REFUSED"; /* the state of a word that is no descriptor */

void report_keep_error(verify_report *r, cnn_status status, const cnn_error *err)
{
    if (status == CNN_OK || r->write_status != CNN_OK) return;
    r->write_status = status;
    r->write_error = *err;
}

void report_write(verify_report *r, cnn_record *record)
{
    cnn_error err;
    if (resume_take(r->output.resume, record) != NULL) { /* of a case that was stopped in its midst */
        record_free(record);
        return;
    }
    const cnn_status status = record_write(r->output.sink, record, &err);
    report_keep_error(r, status, &err);
}

void report_repro(const verify_report *r, char command[CLI_REPEAT_MAX])
{
    const report_case *n = &r->now;
    const cli_case c = {"verify", n->session, n->algorithm, n->problem, n->batch, n->dir, n->type, n->seed};
    snprintf(command, CLI_REPEAT_MAX, "%s", n->command != NULL ? n->command : "");
    if (n->command != NULL) return;
    cli_repeat(r->options, &c, command, CLI_REPEAT_MAX);
    if (r->options->sums) cnn_append(command, CLI_REPEAT_MAX, " --sums");
    if (cli_given(r->options, "reference-flops") && !n->drawn)
        cnn_append(command, CLI_REPEAT_MAX, " --reference-flops %g", r->options->reference_flops);
}

void report_begin(verify_report *r, const report_case *now)
{
    r->now = *now;
    r->state = VERIFY_UNSUPPORTED;
    r->passed[0] = r->failed[0] = r->skipped[0] = r->failures[0] = r->precision[0] = r->transform[0] = r->reason[0] =
        r->remarks[0] = r->order[0] = r->dumped[0] = '\0';
    r->budget_used = (double)NAN;
    r->located = r->left = false;
}

/* What the determinism check was asked with --check determinism. */
static void record_bits(cnn_record *record, const verify_result *v)
{
    static const char *const names[VERIFY_SAME_COUNT] = {"same_runs", "same_threads", "same_position", "same_contexts"};
    char digest[32];
    if (v->bits.digest == 0) return;
    for (int a = 0; a < VERIFY_SAME_COUNT; a++)
        if (v->bits.same[a] != 0) record_bool(record, names[a], v->bits.same[a] == 'y');
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)v->bits.digest);
    record_text(record, "digest", digest);
}

/* What --sums found. */
static void record_sums(cnn_record *record, const sum_findings *f)
{
    record_pair factors[2];
    for (int i = 0; i < 2; i++) {
        snprintf(factors[i].key, sizeof factors[i].key, "%s", f->factor[i]);
        snprintf(factors[i].value, sizeof factors[i].value, "%d", i == 0 ? f->a_bits : f->b_bits);
    }
    record_text(record, "element", f->element);
    record_int(record, "products", f->products);
    record_text(record, "order", f->order);
    record_bool(record, "order_regular", f->regular);
    if (f->addends > 0) record_text(record, "bias", f->place[0]);
    record_text(record, "beta", f->beta);
    record_text(record, "tree", f->tree);
    if (f->inner_bits > 0) record_int(record, "accumulator_bits", f->inner_bits);
    if (f->outer_bits > 0) record_int(record, "accumulator_bits_between", f->outer_bits);
    record_text(record, "rounding", sum_rounding_name(f->rounding));
    record_text(record, "product", sum_product_name(f->product));
    record_int_pairs(record, "factor_bits", factors, 2);
    record_int(record, "foretold", f->foretold);
    record_int(record, "foretold_of", f->asked);
    record_int(record, "runs", f->runs);
}

static void put_result(cnn_record *record, const verify_result *v)
{
    record_text(record, "check", v->check);
    record_text(record, "state", verify_state_name(v->state));
    record_real(record, "budget_used", v->budget_used);
    record_text(record, "precision", v->precision);
    if (v->taps > 0) {
        record_int(record, "bits_kept", v->bits_kept);
        record_int(record, "taps", v->taps);
    }
    if (v->transform[0] != '\0') {
        record_real(record, "amplification", v->amplification);
        record_text(record, "transform", v->transform);
    }
    record_text(record, "worst", v->worst);
    record_text(record, "reason", v->reason);
}

static void record_result(verify_report *r, const verify_result *v)
{
    char command[CLI_REPEAT_MAX];
    cnn_record *record = record_new("verify");
    report_repro(r, command);
    record_session(record, r->now.session, r->now.tuned != NULL ? CNN_TUNED : v->algorithm);
    if (r->now.tuned != NULL) record_text(record, "tuning", tuning_state_name(r->now.tuned->state));
    record_choice(record, r->now.tuned != NULL ? v->algorithm : NULL, v->choice);
    if (v->problem != NULL) {
        record_problem(record, v->problem, v->dir);
    } else {
        record_text(record, "net", r->now.what);
        record_int(record, "batch", r->now.batch);
        record_text(record, "dtype", cnn_dtype_name(r->now.type.dtype));
        record_text(record, "layout", cnn_layout_name(r->now.type.layout));
    }
    put_result(record, v);
    record_bits(record, v);
    if (v->sums != NULL) record_sums(record, v->sums);
    if (r->dumped[0] != '\0') record_text(record, "dump", r->dumped);
    if (r->now.drawn) record_int(record, "case", r->now.index);
    record_text(record, "repro", command);
    report_write(r, record);
}

void report_arrays(void *user, const verify_failure *failure)
{
    verify_report *r = user;
    char command[CLI_REPEAT_MAX];
    cnn_error err;
    if (r->options->dump == NULL || r->dumped[0] != '\0' || r->dumps >= r->options->details) return;
    report_repro(r, command);
    const cnn_status status = dump_failure(r->options->dump, ++r->dumps, failure, command, r->dumped, &err);
    report_keep_error(r, status, &err);
}

/* A record a check, at once; of the case is kept what its line will say. */
void report_result(void *user, const verify_result *v)
{
    verify_report *r = user;
    if (v->state > r->state) r->state = v->state;
    if (v->check == verify_late_refusal || v->check == verify_no_room) r->left = true;
    if (v->budget_used > r->budget_used || isnan(r->budget_used)) r->budget_used = v->budget_used;
    if (v->precision[0] != '\0') memcpy(r->precision, v->precision, sizeof r->precision);
    if (v->transform[0] != '\0') memcpy(r->transform, v->transform, sizeof r->transform);
    const bool sums = v->check == verify_sums_name && v->state == VERIFY_PASSED; /* no check: it informs */
    if (sums) snprintf(r->order, sizeof r->order, "%s", v->reason);
    if (v->state == VERIFY_PASSED && !sums) cnn_append(r->passed, sizeof r->passed, " %s", v->check);
    if (v->state == VERIFY_SKIPPED)
        cnn_append(r->skipped, sizeof r->skipped, "%s%s: %s", r->skipped[0] ? "; " : "", v->check, v->reason);
    if (v->state == VERIFY_UNSUPPORTED || (v->problem == NULL && v->state <= VERIFY_PASSED))
        cnn_append(r->reason, sizeof r->reason, "%s%s: %s", r->reason[0] ? "; " : "", v->check, v->reason);
    if (v->problem != NULL && v->state == VERIFY_PASSED && !sums && v->reason[0] != '\0' &&
        strcmp(v->check, "gradient") != 0)
        cnn_append(r->remarks, sizeof r->remarks, "; %s: %s", v->check, v->reason);
    if (v->state > VERIFY_PASSED) {
        cnn_append(r->failed, sizeof r->failed, " %s", v->check);
        cnn_append(r->failures, sizeof r->failures, "    %s %s: %s\n", v->check, verify_state_name(v->state),
                   v->reason);
        if (v->worst[0] != '\0') cnn_append(r->failures, sizeof r->failures, "      %s\n", v->worst);
        if (!r->located) cnn_append(r->failures, sizeof r->failures, "%s", v->where);
        r->located = r->located || v->where[0] != '\0';
    }
    /* the precision of something else than what was to be computed says nothing */
    if (strstr(r->failed, " exact") == NULL || v->bits.digest != 0) verify_table_add(&r->sums->table, v, r->now.what);
    record_result(r, v);
}

void report_count(verify_sums *sums, const char *impl, verify_state state, bool left, const char *reason)
{
    sums->cases[state]++;
    if (left || state >= VERIFY_PASSED) verify_reasons_share(&sums->reasons, impl, state >= VERIFY_PASSED);
    if (state == VERIFY_UNSUPPORTED) verify_reasons_count(&sums->reasons, reason);
}

/* Which convolutions fail; of random ones a failure is shrunk instead. */
static void note_pattern(verify_report *r)
{
    const report_case *n = &r->now;
    char name[PATTERN_NAME_MAX];
    if (n->problem == NULL || n->drawn || r->state < VERIFY_PASSED) return;
    snprintf(name, sizeof name, "%s:%s %s %s %s %s", n->session->impl->name, n->algorithm, cnn_op_name(n->problem->op),
             cnn_dir_name(n->dir), cnn_dtype_name(n->type.dtype), cnn_layout_name(n->type.layout));
    verify_pattern_add(&r->sums->patterns, name, n->problem, r->state == VERIFY_FAILED);
}

void report_end(verify_report *r)
{
    note_pattern(r);
    report_count(r->sums, r->now.session->impl->name, r->state, r->left, r->reason);
    report_print(r);
}

static void record_refused(verify_report *r, cnn_op op, const report_case *now, const char *state, const char *reason)
{
    cnn_record *record = record_new("verify");
    if (now->session != NULL) record_session(record, now->session, now->algorithm);
    if (op != CNN_OP_COUNT) record_text(record, "op", cnn_op_name(op));
    record_text(record, "problem", now->what);
    if (now->problem != NULL) record_text(record, "dir", cnn_dir_name(now->dir));
    record_text(record, "check", "supports");
    record_text(record, "state", state);
    record_text(record, "reason", reason);
    report_write(r, record);
}

void report_refused(verify_report *r, cnn_op op, const report_case *now, verify_state state, const char *reason)
{
    const bool left = now->session != NULL && now->session->impl->memory != NULL; /* it says how much memory it has */
    report_count(r->sums, left ? now->session->impl->name : "", state, left, reason);
    if (report_shows(r, state)) report_clear_line(r);
    if (report_shows(r, state))
        table_print(12, "%-11s %s%s%s: %s\n", verify_state_name(state), op != CNN_OP_COUNT ? cnn_op_name(op) : "",
                    op != CNN_OP_COUNT ? " " : "", now->what, reason);
    record_refused(r, op, now, verify_state_name(state), reason);
}

void report_malformed(verify_report *r, cnn_op op, const char *text, const char *reason)
{
    const report_case now = {.what = text};
    r->sums->malformed++;
    report_clear_line(r);
    fflush(stdout);
    table_put(stderr, "benchcnn: %s\n", reason);
    record_refused(r, op, &now, REFUSED, reason);
}

/* Random problems are MISTRUSTED now and then; of chosen ones that is no success. */
static void print_counts(const verify_report *r, FILE *to)
{
    enum { HANG = 2 };
    const verify_sums *sums = r->sums;
    char line[512];
    int64_t all = 0;
    for (int state = 0; state <= VERIFY_FAILED; state++) all += sums->cases[state];
    snprintf(line, sizeof line, "%lld ", (long long)all);
    if (r->asked > 0 && r->asked < INT64_MAX) cnn_append(line, sizeof line, "of %lld ", (long long)r->asked);
    cnn_append(line, sizeof line, "cases:");
    for (int state = VERIFY_FAILED; state >= 0; state--)
        if (sums->cases[state] > 0 || state == VERIFY_PASSED || state == VERIFY_FAILED)
            cnn_append(line, sizeof line, " %lld %s", (long long)sums->cases[state],
                       verify_state_name((verify_state)state));
    if (sums->malformed > 0) cnn_append(line, sizeof line, ", %lld refused", (long long)sums->malformed);
    cnn_append(line, sizeof line, " (seed %lld", (long long)r->options->seed);
    if (r->asked > 0) cnn_append(line, sizeof line, ", %.1f s", cnn_now() - r->started);
    table_print_to(to, HANG, "%s)\n", line);
    if (sums->cases[VERIFY_MISTRUSTED] > 0 && r->asked == 0)
        table_print_to(to, HANG,
                       "MISTRUSTED is no success: those results would come out so whatever the kernel does; try "
                       "another --seed\n");
}

int report_summary(verify_report *r)
{
    const verify_sums *sums = r->sums;
    const int64_t passed = sums->cases[VERIFY_PASSED], mistrusted = r->asked == 0 ? sums->cases[VERIFY_MISTRUSTED] : 0;
    const int64_t bad = sums->cases[VERIFY_FAILED] + mistrusted;
    FILE *to = r->options->json ? stderr : stdout;
    if (sums->earlier > 0)
        fprintf(to, "%lld cases were finished before, and stand in %s alone\n", (long long)sums->earlier,
                r->options->out);
    verify_patterns_print(&sums->patterns, to);
    verify_table_bits(&sums->table, to);
    verify_table_precisions(&sums->table, to);
    verify_table_kept(&sums->table, to);
    if (!r->options->json) verify_reasons_print(&sums->reasons);
    if (sums->lines > 0)
        fprintf(to, "%lld of the failures are shown in a line only: --details N shows N of a kind whole\n",
                (long long)sums->lines);
    print_counts(r, to);
    if (sums->unrun > 0)
        table_print_to(to, 4, "--fail-fast: %lld cases behind the first failure were not run\n",
                       (long long)sums->unrun);
    const bool few = verify_reasons_few(&sums->reasons, to);
    if (sums->malformed > 0) return EXIT_USAGE;
    return bad > 0 || (few && passed > 0) ? EXIT_FAILED : passed > 0 ? EXIT_HELD : EXIT_NOTHING;
}

void report_died(verify_report *r, const char *how)
{
    verify_result result = {.session = r->now.session,
                            .algorithm = r->now.algorithm,
                            .problem = r->now.problem,
                            .dir = r->now.dir,
                            .check = "survival",
                            .state = VERIFY_FAILED};
    snprintf(result.reason, sizeof result.reason, "%s", how);
    report_result(r, &result);
    report_end(r);
}

void report_done(verify_report *r, int64_t number, const char *state)
{
    cnn_error err;
    if (r->pieces != NULL) cli_pieces_done(r->pieces, state);
    const cnn_status status = resume_case(r->output.resume, r->output.sink, number, state, &err);
    report_keep_error(r, status, &err);
}

void report_add_earlier(verify_report *r)
{
    for (int state = 0; state <= VERIFY_FAILED; state++)
        r->sums->cases[state] += resume_count(r->output.resume, verify_state_name((verify_state)state));
    r->sums->malformed += resume_count(r->output.resume, REFUSED);
    r->sums->earlier = resume_done(r->output.resume);
}
