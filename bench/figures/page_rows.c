/* page_rows.c: records that tell of one figure, one case or one training become one row. */
#include "harness/base/grow.h"
#include "harness/base/text.h"
#include "harness/record/identity.h"
#include "page_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[PAGE_KINDS] = {"timing", "case", "training", "pass"};
/* What a row shows as its record has it. */
static const char *const fields[] = {
    "impl",       "algorithm",    "choice",        "inner_choice", "threads",    "knobs",        "warnings",
    "op",         "problem",      "bias",          "mode",         "dir",        "dtype",        "math",
    "layout",     "cache",        "net",           "floor_s",      "floor_by",   "floor_marks",  "sm_mhz_min",
    "sm_mhz_max", "sm_mhz_limit", "temperature_c", "power_w",      "data",       "data_on",      "batch",
    "workers",    "ranks",        "optimizer",     "schedule",     "preprocess", "train_images", "test_images",
    "layer",      "pass",         "phase",         "times",        "flops",      "bytes"};

static const char *text_of(const cnn_record *record, const char *field)
{
    const char *text = record_get_text(record, field);
    return text != NULL ? text : "";
}

static bool is_sweep(const cnn_record *record) { return strcmp(text_of(record, "kind"), "sweep") == 0; }

static void set_text(char **to, const char *text)
{
    free(*to);
    *to = text != NULL && text[0] != '\0' ? strdup(text) : NULL;
}

/* The identity with what is not in it, but tells rows of a page apart. To be freed; NULL: no memory. */
static char *key_of(const page *p, const cnn_record *record, identity_scope scope, int session, const char *machine)
{
    static const char *const more[] = {"workers", "ranks", "bucket", "schedule", "weights", "preprocess",
                                       "axes",    "case",  "layer",  "pass",     "phase"};
    const int environment = session >= 0 ? p->sessions[session].environment : -1;
    char *key = NULL, *identity = record_identity(record, scope, NULL);
    size_t size;
    FILE *stream = identity != NULL ? open_memstream(&key, &size) : NULL;
    if (stream != NULL) {
        fprintf(stream, "%s on %s in %d", identity, machine, scope == IDENTITY_FIGURE ? session : environment);
        fputs(is_sweep(record) ? " swept" : "", stream);
        for (size_t i = 0; scope == IDENTITY_FIGURE && i < sizeof more / sizeof *more; i++) {
            char *value = record_json(record, more[i]);
            if (value != NULL) fprintf(stream, " %s=%s", more[i], value);
            free(value);
        }
        if (fclose(stream) != 0) {
            free(key);
            key = NULL;
        }
    }
    free(identity);
    return key;
}

/* Passes are of one training, with all that it was run with. To be freed. */
static char *run_of(const cnn_record *record, const char *machine)
{
    char *run = NULL, *identity = record_identity(record, IDENTITY_FIGURE, NULL);
    if (identity != NULL && asprintf(&run, "%s on %s", identity, machine) < 0) run = NULL;
    free(identity);
    return run;
}

static void describe(page_row *row, page_kind kind, const cnn_record *record)
{
    const char *impl = text_of(record, "impl"), *algorithm = text_of(record, "algorithm");
    char name[2 * CNN_NAME_MAX + 2];
    record_free(row->record);
    row->record = record_new(kind_names[kind]);
    snprintf(name, sizeof name, "%.95s%s%.95s", impl, algorithm[0] ? ":" : "", algorithm);
    record_text(row->record, "name", name);
    record_copy(row->record, record, fields, sizeof fields / sizeof *fields);
    row->stats = (bench_stats){.median = NAN, .low = NAN, .high = NAN};
    row->resolution = row->budget_used = row->images_per_s = NAN;
    row->gravity = -1;
    row->count = 0;
    set_text(&row->repro, record_get_text(record, "repro"));
}

/* The row of the record, made if there is none yet. NULL: no memory. */
static page_row *row_of(page *p, page_kind kind, const cnn_record *record, cnn_error *err)
{
    const int session = page_session_of(p, record_get_text(record, "impl"));
    const char *own = record_get_text(record, "machine");
    const char *machine = own ? own : session >= 0 ? p->sessions[session].machine : "";
    char *key = key_of(p, record, IDENTITY_FIGURE, session, machine),
         *task = kind == PAGE_PASS ? run_of(record, machine) : key_of(p, record, IDENTITY_TASK, session, machine);
    bool fresh = false, fresh_group;
    page_row *row = NULL;
    if (key == NULL || task == NULL) CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a row");
    const int id = key != NULL && task != NULL ? figure_name(&p->keys[kind], key, &fresh, err) : -1;
    const int group = id >= 0 ? figure_name(&p->groups[kind], task, &fresh_group, err) : -1;
    free(key);
    free(task);
    if (group < 0) return NULL;
    if (!fresh) return &p->rows[kind][id];
    row = cnn_add_item(&p->rows[kind], &p->count[kind], &p->room[kind], sizeof *row, "rows", err);
    if (row == NULL) return NULL;
    row->group = group;
    row->session = session;
    row->file = p->path;
    row->line = record_line(record);
    snprintf(row->machine, sizeof row->machine, "%s", machine);
    describe(row, kind, record);
    if (row->repro == NULL && p->command >= 0) set_text(&row->repro, p->command_names.texts[p->command]);
    return row;
}

/* From the lightest to the gravest; one that is unknown is as grave as FAILED. */
static int gravity_of(const char *state)
{
    static const char *const states[] = {"UNSUPPORTED", "OUT_OF_MEMORY", "SKIPPED",  "NOT CHECKED",
                                         "TOO_SHORT",   "PASSED",        "DIVERGED", "MISTRUSTED"};
    int i = 0;
    while (i < (int)(sizeof states / sizeof *states) && strcmp(states[i], state) != 0) i++;
    return i;
}

static void take_state(page_row *row, const char *state, const cnn_record *record)
{
    const int gravity = gravity_of(state);
    const char *reason = text_of(record, "reason"), *worst = text_of(record, "worst");
    char both[1400];
    if (gravity < row->gravity || (gravity == row->gravity && row->reason != NULL)) return;
    snprintf(both, sizeof both, "%.600s%s%.600s", reason, reason[0] && worst[0] ? ": " : "",
             strcmp(state, "PASSED") == 0 ? "" : worst);
    row->gravity = gravity;
    set_text(&row->state, state);
    set_text(&row->reason, both);
    if (record_get_text(record, "repro") != NULL) set_text(&row->repro, record_get_text(record, "repro"));
}

static cnn_status add_seconds(page_row *row, double seconds, const char *marks, cnn_error *err)
{
    const unsigned bits = bench_marks_of(marks);
    double *added = cnn_add_item(&row->seconds, &row->count, &row->room, sizeof *added, "runs of a row", err);
    if (added == NULL) return err->status;
    *added = seconds;
    for (int bit = 0; bit < BENCH_MARK_COUNT; bit++) row->marked[bit] += bits >> bit & 1u;
    return CNN_OK;
}

static bool is_time(double seconds) { return seconds > 0 && isfinite(seconds); }

/* Runs of a figure: the interval covers that of each. Of a sweep the last round counts: it has the most samples. */
static cnn_status add_timing(page_row *row, const cnn_record *record, cnn_error *err)
{
    const double median = record_get_real(record, "median_s"), round = record_get_real(record, "round");
    if (is_sweep(record) && round < row->round) return CNN_OK;
    if (is_sweep(record) && round > row->round) {
        memset(row->marked, 0, sizeof row->marked);
        describe(row, PAGE_TIMING, record);
        row->round = (int)fmin(round, 1e6);
    }
    take_state(row, text_of(record, "state"), record);
    row->budget_used = fmax(row->budget_used, record_get_real(record, "budget_used")); /* passes over a NaN */
    if (!is_time(median)) return CNN_OK;
    row->beyond = row->beyond || record_is(record, "verified", false);
    row->stats.low = fmin(row->stats.low, record_get_real(record, "low_s"));
    row->stats.high = fmax(row->stats.high, record_get_real(record, "high_s"));
    row->resolution = fmax(row->resolution, record_get_real(record, "resolution"));
    return add_seconds(row, median, text_of(record, "marks"), err);
}

static cnn_status add_epoch(page_row *row, const cnn_record *record, cnn_error *err)
{
    const double seconds = record_get_real(record, "seconds");
    const page_point point = {record_get_real(record, "epoch"), record_get_real(record, "train_loss"),
                              record_get_real(record, "test_loss"), record_get_real(record, "test_accuracy")};
    const char *state = record_get_text(record, "state");
    const bool verified = record_is(record, "verified", true);
    if (state == NULL && record_is(record, "diverged", true)) state = "DIVERGED";
    take_state(row, state != NULL ? state : verified ? "PASSED" : "NOT CHECKED", record);
    row->verified += verified;
    row->budget_used = fmax(row->budget_used, record_get_real(record, "budget_used"));
    row->images_per_s = fmax(row->images_per_s, record_get_real(record, "images_per_s"));
    row->over_ranks = record_get_real(record, "ranks") > 1;
    if (row->n_points > 0 && !(point.epoch > row->points[row->n_points - 1].epoch)) row->n_points = 0; /* begun anew */
    page_point *added =
        cnn_add_item(&row->points, &row->n_points, &row->point_room, sizeof *added, "epochs of a training", err);
    if (added == NULL) return err->status;
    *added = point;
    return is_time(seconds) ? add_seconds(row, seconds, text_of(record, "marks"), err) : CNN_OK;
}

static cnn_status add_pass(page_row *row, const cnn_record *record, cnn_error *err)
{
    const double seconds = record_get_real(record, "seconds"), share = record_get_real(record, "share");
    if (!is_time(seconds)) return CNN_OK;
    row->shares += share >= 0 && share <= 1 ? share : 0;
    return add_seconds(row, seconds, "", err);
}

static cnn_status add_check(page *p, page_row *row, const cnn_record *record)
{
    const char *state = text_of(record, "state"), *check = text_of(record, "check");
    const char *precision = text_of(record, "precision"), *reason = text_of(record, "reason");
    char why[CNN_MESSAGE_MAX];
    take_state(row, state, record);
    row->budget_used = fmax(row->budget_used, record_get_real(record, "budget_used"));
    if (precision[0] != '\0') snprintf(row->precision, sizeof row->precision, "%s", precision);
    if (strcmp(state, "PASSED") == 0 && !record_listed(row->checks, check))
        cnn_append(row->checks, sizeof row->checks, "%s%s", row->checks[0] ? "," : "", check);
    snprintf(why, sizeof why, "%.60s: %.400s", check, reason);
    if (strcmp(state, "UNSUPPORTED") == 0) verify_reasons_count(&p->unsupported, reason);
    if (strcmp(state, "SKIPPED") == 0) verify_reasons_count(&p->skipped, why);
    return CNN_OK;
}

cnn_status page_add_row(page *p, page_kind kind, const cnn_record *record, cnn_error *err)
{
    page_row *row = row_of(p, kind, record, err);
    if (row == NULL) return err->status;
    if (kind == PAGE_CASE) return add_check(p, row, record);
    if (kind == PAGE_PASS) return add_pass(row, record, err);
    return kind == PAGE_TIMING ? add_timing(row, record, err) : add_epoch(row, record, err);
}
