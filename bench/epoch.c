/* epoch.c: epoch figures to and from records. */
#include "epoch.h"
#include "goal.h"
#include "harness/base/grow.h"
#include "profiled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The fields, once: written, read and compared from this table. */
typedef enum field_kind { FIELD_TEXT, FIELD_INT, FIELD_REAL, FIELD_BOOL } field_kind;
enum { TASK = 1, POINT = 2, BUILD = 4 }; /* what is computed; by whom, and where; by which program */

typedef struct field {
    const char *key;
    field_kind kind;
    size_t offset, size; /* in epoch_row */
    int scope;           /* 0: of no setting */
    bool elsewhere;      /* record_session() writes it, or the environment */
} field;

#define FIELD(name, place, kind, scope, elsewhere)                                                                     \
    {                                                                                                                  \
#name, kind, offsetof(epoch_row, place), sizeof((epoch_row *)0)->place, scope, elsewhere                       \
    }
#define SETTING(name, kind, scope) FIELD(name, setting.name, kind, scope, false)
#define ELSEWHERE(name, kind) FIELD(name, setting.name, kind, POINT, true)
#define FIGURE(name, kind) FIELD(name, name, kind, 0, false)

static const field fields[] = {
    ELSEWHERE(impl, FIELD_TEXT),
    ELSEWHERE(algorithm, FIELD_TEXT),
    ELSEWHERE(threads, FIELD_INT),
    ELSEWHERE(knobs, FIELD_TEXT),
    ELSEWHERE(cpu, FIELD_TEXT),
    ELSEWHERE(gpu, FIELD_TEXT),
    ELSEWHERE(cores, FIELD_INT),
    SETTING(net, FIELD_TEXT, TASK),
    SETTING(net_params, FIELD_INT, TASK),
    SETTING(net_crc, FIELD_TEXT, TASK),
    SETTING(data, FIELD_TEXT, TASK),
    SETTING(preprocess, FIELD_TEXT, TASK),
    SETTING(batch, FIELD_INT, POINT),
    SETTING(workers, FIELD_INT, POINT),
    SETTING(ranks, FIELD_INT, POINT),
    SETTING(bucket, FIELD_INT, POINT),
    SETTING(fused, FIELD_INT, POINT),
    SETTING(streams, FIELD_INT, POINT),
    SETTING(dtype, FIELD_TEXT, TASK),
    SETTING(layout, FIELD_TEXT, TASK),
    SETTING(math, FIELD_TEXT, TASK),
    SETTING(optimizer, FIELD_TEXT, TASK),
    SETTING(loss_scale, FIELD_INT, TASK),
    SETTING(schedule, FIELD_TEXT, TASK),
    SETTING(seed, FIELD_INT, POINT),
    SETTING(weights, FIELD_TEXT, POINT),
    SETTING(shift, FIELD_INT, TASK),
    SETTING(train_images, FIELD_INT, TASK),
    SETTING(test_images, FIELD_INT, TASK),
    SETTING(data_on, FIELD_TEXT, POINT),
    SETTING(graph, FIELD_BOOL, POINT),
    SETTING(recompute, FIELD_BOOL, POINT),
    SETTING(offload, FIELD_BOOL, POINT),
    SETTING(build, FIELD_TEXT, BUILD),
    SETTING(libraries, FIELD_TEXT, BUILD),
    FIGURE(epoch, FIELD_INT),
    FIGURE(epochs, FIELD_INT),
    FIGURE(seconds, FIELD_REAL),
    FIGURE(train_s, FIELD_REAL),
    FIGURE(test_s, FIELD_REAL),
    FIGURE(train_loss, FIELD_REAL),
    FIGURE(test_loss, FIELD_REAL),
    FIGURE(train_accuracy, FIELD_REAL),
    FIGURE(test_accuracy, FIELD_REAL),
    FIGURE(images_per_s, FIELD_REAL),
    FIGURE(transfer_s, FIELD_REAL),
    FIGURE(host_step_s, FIELD_REAL),
    FIGURE(last_scale, FIELD_REAL),
    FIGURE(steps_left_out, FIELD_INT),
    FIGURE(diverged, FIELD_BOOL),
    FIGURE(verified, FIELD_BOOL),
    FIGURE(checked, FIELD_TEXT),
    FIGURE(check_seed, FIELD_INT),
    FIGURE(budget_used, FIELD_REAL),
};
enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

static const void *field_at(const epoch_row *row, const field *f) { return (const char *)row + f->offset; }

_Static_assert(offsetof(epoch_row, setting) == 0, "a setting's fields are where its row's are");

/* Field by field: the bytes of texts behind their ends differ. */
static bool same(const epoch_setting *a, const epoch_setting *b, int scopes)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        const field *f = &fields[i];
        const char *of_a = (const char *)a + f->offset, *of_b = (const char *)b + f->offset;
        if (!(f->scope & scopes)) continue;
        if (f->kind == FIELD_TEXT ? strcmp(of_a, of_b) != 0 : memcmp(of_a, of_b, f->size) != 0) return false;
    }
    return true;
}

bool epoch_same_task(const epoch_setting *a, const epoch_setting *b) { return same(a, b, TASK); }

bool epoch_same_setting(const epoch_setting *a, const epoch_setting *b) { return same(a, b, TASK | POINT | BUILD); }

bool epoch_other_build(const epoch_setting *a, const epoch_setting *b)
{
    return same(a, b, TASK | POINT) && !same(a, b, BUILD);
}

epoch_row epoch_row_of(const epoch_setting *setting, int64_t number, int64_t epochs, const trainer_result *r,
                       const verify_training_result *checked, const clock_report *clocks)
{
    const bool diverged = !(r->train_loss <= EPOCH_LOSS_MOST && r->test_loss <= EPOCH_LOSS_MOST);
    const bool failed = checked != NULL && checked->failed, none = failed || diverged;
    epoch_row row = {.setting = *setting,
                     .epoch = number,
                     .epochs = epochs,
                     .seconds = none ? NAN : r->seconds,
                     .train_s = none ? NAN : r->train_s,
                     .test_s = none ? NAN : r->test_s,
                     .train_loss = failed ? NAN : r->train_loss,
                     .test_loss = failed ? NAN : r->test_loss,
                     .train_accuracy = failed ? NAN : r->train_accuracy,
                     .test_accuracy = failed ? NAN : r->test_accuracy,
                     .images_per_s = none ? NAN : r->images_per_s,
                     .transfer_s = failed ? NAN : r->transfer_s,
                     .host_step_s = failed ? NAN : r->host_step_s,
                     .last_scale = r->loss_scale,
                     .steps_left_out = r->steps_left_out,
                     .diverged = diverged,
                     .verified = checked != NULL && !failed,
                     .failed = failed,
                     .budget_used = checked != NULL ? checked->budget_used : NAN,
                     .joules = NAN,
                     .check_seed = checked != NULL ? (int64_t)checked->seed : 0,
                     .marks = clock_marks(clocks),
                     .clocks = *clocks};
    if (checked != NULL) snprintf(row.checked, sizeof row.checked, "%s", checked->steps);
    if (failed) snprintf(row.reason, sizeof row.reason, "%s", checked->reason);
    return row;
}

/* One process is no ranks, sums mostly have no buckets, nothing may be fused, most steps have one stream, and most
 * types have no loss scale: it stands in no record, and in no table. */
static bool unsaid(const field *f, const epoch_row *row)
{
    const bool of_scale = f->offset == offsetof(epoch_row, setting.loss_scale) ||
                          f->offset == offsetof(epoch_row, last_scale) ||
                          f->offset == offsetof(epoch_row, steps_left_out);
    if (of_scale) return row->setting.loss_scale == 0;
    if (f->offset == offsetof(epoch_row, setting.bucket)) return row->setting.bucket == 0;
    if (f->offset == offsetof(epoch_row, setting.fused)) return row->setting.fused == 0;
    if (f->offset == offsetof(epoch_row, setting.streams)) return row->setting.streams == 0;
    return f->offset == offsetof(epoch_row, setting.ranks) && row->setting.ranks <= 1;
}

/* Those of the setting, or all others. */
static void put_fields(cnn_record *record, const epoch_row *row, bool of_setting)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        const void *value = field_at(row, &fields[i]);
        if (fields[i].elsewhere || (fields[i].scope != 0) != of_setting || unsaid(&fields[i], row)) continue;
        if (fields[i].kind == FIELD_TEXT) record_text(record, fields[i].key, value);
        if (fields[i].kind == FIELD_INT) record_int(record, fields[i].key, *(const int64_t *)value);
        if (fields[i].kind == FIELD_REAL) record_real(record, fields[i].key, *(const double *)value);
        if (fields[i].kind == FIELD_BOOL) record_bool(record, fields[i].key, *(const bool *)value);
    }
}

cnn_record *epoch_record_new(const char *kind, const cnn_session *session, const epoch_setting *setting)
{
    const epoch_row row = {.setting = *setting};
    cnn_record *record = record_new(kind);
    record_session(record, session, setting->algorithm);
    put_fields(record, &row, true);
    return record;
}

cnn_record *epoch_record(const cnn_session *session, const epoch_row *row)
{
    char marks[128];
    cnn_record *record = epoch_record_new("epoch", session, &row->setting);
    put_fields(record, row, false);
    if (row->failed) {
        record_text(record, "state", "FAILED");
        record_text(record, "reason", row->reason);
    }
    clock_record(record, &row->clocks);
    record_text(record, "marks", bench_marks_text(row->marks, marks, sizeof marks));
    return record;
}

/* ---- Reading ---- */

/* What an environment record tells of the machine; each implementation of a run has one of its own. */
typedef struct machine {
    char impl[CNN_NAME_MAX], cpu[CNN_NAME_MAX], gpu[CNN_NAME_MAX];
    int64_t cores;
} machine;

typedef struct reader {
    epoch_table *table;
    const char *path;
    machine *machines; /* the latest of each implementation */
    int count, capacity;
} reader;

/* Absent numbers are NaN, or 0 where a whole one is expected. */
static void get_number(const cnn_record *record, const field *f, epoch_row *row)
{
    void *place = (char *)row + f->offset;
    const double value = record_get_real(record, f->key);
    if (f->kind == FIELD_REAL)
        *(double *)place = value;
    else
        *(int64_t *)place = value >= -9e18 && value <= 9e18 ? (int64_t)value : 0;
}

static machine *machine_of(const reader *from, const char *impl)
{
    for (int i = 0; i < from->count; i++)
        if (strcmp(from->machines[i].impl, impl) == 0) return &from->machines[i];
    return NULL;
}

static cnn_status get_machine(reader *from, const cnn_record *record, cnn_error *err)
{
    const double cores = record_get_real(record, "cores");
    machine m = {.cores = cores > 0 ? (int64_t)cores : 0};
    epoch_text(m.impl, sizeof m.impl, record_get_text(record, "impl"));
    epoch_text(m.cpu, sizeof m.cpu, record_get_text(record, "cpu"));
    epoch_text(m.gpu, sizeof m.gpu, record_get_inner_text(record, "implementation", "gpu"));
    machine *known = machine_of(from, m.impl);
    if (!known)
        known = cnn_add_item(&from->machines, &from->count, &from->capacity, sizeof *known, "environments", err);
    if (!known) return err->status;
    *known = m;
    return CNN_OK;
}

/* What older records do not say gets the value that went without saying then. */
static void get_row(const cnn_record *record, const reader *from, epoch_row *row)
{
    epoch_setting *s = &row->setting;
    memset(row, 0, sizeof *row);
    for (int i = 0; i < FIELD_COUNT; i++) {
        const field *f = &fields[i];
        if (f->kind == FIELD_TEXT)
            epoch_text((char *)row + f->offset, f->size, record_get_text(record, f->key));
        else if (f->kind == FIELD_BOOL)
            *(bool *)((char *)row + f->offset) = record_is(record, f->key, true);
        else
            get_number(record, f, row);
    }
    epoch_knobs(s->knobs, sizeof s->knobs, record);
    if (s->data_on[0] == '\0') epoch_text(s->data_on, sizeof s->data_on, "device"); /* older records: no choice yet */
    if (s->ranks == 0) s->ranks = 1;                                                /* unsaid */
    const machine *m = machine_of(from, s->impl);
    if (!m) m = machine_of(from, ""); /* an older environment does not say whose it is */
    epoch_text(s->cpu, sizeof s->cpu, m ? m->cpu : "");
    epoch_text(s->gpu, sizeof s->gpu, m ? m->gpu : "");
    s->cores = m ? m->cores : 0;
    row->joules = record_get_real(record, "joules_per_epoch");
    row->comm = (epoch_comm){.bytes = record_get_real(record, "comm_bytes"),
                             .step_s = record_get_real(record, "comm_step_s"),
                             .flight_s = record_get_real(record, "comm_flight_s"),
                             .alone_s = record_get_real(record, "comm_alone_s")};
    epoch_text(row->comm.way, sizeof row->comm.way, record_get_text(record, "comm_way"));
    row->path = from->path;
    row->line = record_line(record);
    row->marks = bench_marks_of(record_get_text(record, "marks"));
}

static cnn_status read_record(void *user, const cnn_record *record, cnn_error *err)
{
    reader *from = user;
    epoch_row row;
    const char *kind = record_get_text(record, "kind");
    if (strcmp(kind, "env") == 0) return get_machine(from, record, err);
    if (strcmp(kind, "goal") == 0 && from->table->goals != NULL) {
        goal_row goal;
        get_row(record, from, &row);
        goal.setting = row.setting;
        return goal_row_read(record, &goal) ? goal_table_add(from->table->goals, &goal, err) : CNN_OK;
    }
    const bool profile = strcmp(kind, "profile") == 0 || strcmp(kind, "profiled_epoch") == 0;
    if (profile && from->table->profiles != NULL) {
        get_row(record, from, &row);
        return profiled_add(from->table->profiles, record, &row.setting, err);
    }
    if (strcmp(kind, "epoch") != 0) return CNN_OK;
    get_row(record, from, &row);
    /* Without a time and a batch it cannot be drawn or counted as done. */
    const bool told = (row.seconds > 0 && isfinite(row.seconds)) || row.diverged;
    return told && row.setting.batch > 0 ? epoch_table_add(from->table, &row, err) : CNN_OK;
}

cnn_status epoch_table_read(epoch_table *table, const char *path, int *bad, cnn_error *err)
{
    reader from = {.table = table, .path = path};
    const cnn_status status = record_read(path, read_record, &from, bad, err);
    free(from.machines);
    return status;
}
