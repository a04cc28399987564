/* epoch.c: epoch figures to and from records. */
#include "epoch.h"

#include "harness/cpu/isa.h"
#include "harness/cpu/threads.h"
#include "harness/names.h"
#include "harness/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* A text that is too long ends in the checksum of all of it: two of them with one beginning are not the same. */
static void copy_text(char *field, size_t size, const char *text)
{
    enum { CRC_SIZE = sizeof " crc 12345678" };
    const size_t length = text ? strlen(text) : 0;
    snprintf(field, size, "%s", text ? text : "");
    if (length < size || size < CRC_SIZE) return;
    snprintf(field + size - CRC_SIZE, CRC_SIZE, " crc %08lx", crc32(0, (const Bytef *)text, (uInt)length));
}

/* "?": the record, an old one, tells of none. */
static void copy_knobs(char *field, size_t size, const cnn_record *record)
{
    char *text = record_json(record, "knobs");
    copy_text(field, size, text ? text : "?");
    free(text);
}

static void take_gpu(void *user, const char *key, const char *value)
{
    epoch_setting *setting = user;
    if (strcmp(key, "gpu") == 0) copy_text(setting->gpu, sizeof setting->gpu, value);
}

void epoch_setting_of_session(const cnn_session *session, epoch_setting *setting)
{
    copy_text(setting->impl, sizeof setting->impl, session->impl->name);
    setting->threads = session->threads;
    setting->cores = cpu_count();
    cpu_model(setting->cpu, (int)sizeof setting->cpu);
    setting->gpu[0] = '\0';
    if (session->impl->describe) session->impl->describe(session->context, take_gpu, setting);
    cnn_record *record = record_new("epoch");
    record_session(record, session, NULL);
    copy_knobs(setting->knobs, sizeof setting->knobs, record);
    record_free(record);
}

void epoch_setting_of_trainer(const cnn_session *session, const trainer_params *params, epoch_setting *setting)
{
    setting->graph = trainer_uses_graph(session, params);
    copy_text(setting->data_on, sizeof setting->data_on, params->host_data ? "host" : "device");
}

/* What the canonical text leaves to options, where it is not the usual; the weights' beginning likewise. */
static int put_unusual(const cnn_network *network, int layer, char *text, size_t size)
{
    const cnn_problem *p = &network->net.layers[layer].problem;
    const net_init *init = &network->inits[layer];
    const bool conv = p->op == CNN_OP_CONV, bias = conv ? p->u.conv.bias : p->op != CNN_OP_FC || p->u.fc.bias;
    const bool weights = conv || p->op == CNN_OP_FC;
    int used = snprintf(text, size, "%s%s", bias ? "" : " no_bias", conv && p->u.conv.flip ? " flip" : "");
    if (weights && init->kind != NET_INIT_DEFAULT)
        used += snprintf(text + used, size - (size_t)used, " init %d %.17g", (int)init->kind, init->bound);
    return used;
}

/* A line a layer: operation, canonical descriptor at batch 1, and the values it reads and writes. The seed of dropout's
 * masks comes from the run's, which is a field of its own. */
static uint32_t crc_of_layers(const cnn_network *network)
{
    const cnn_net *net = &network->net;
    uLong crc = crc32(0, NULL, 0);
    for (int i = 0; i < net->n_layers; i++) {
        char text[CNN_PROBLEM_TEXT_MAX], line[2 * CNN_PROBLEM_TEXT_MAX];
        const cnn_layer *layer = &net->layers[i];
        const cnn_problem problem = cnn_net_problem(net, i, 1, false), work = cnn_problem_work(&problem);
        cnn_problem_format(&work, text);
        int used = snprintf(line, sizeof line, "%s %s", cnn_op_name(problem.op), text);
        used += put_unusual(network, i, line + used, sizeof line - (size_t)used);
        for (int k = 0; k < layer->n_inputs; k++)
            used += snprintf(line + used, sizeof line - (size_t)used, " %d", layer->inputs[k]);
        used += snprintf(line + used, sizeof line - (size_t)used, " > %d\n", layer->output);
        crc = crc32(crc, (const Bytef *)line, (uInt)used);
    }
    return (uint32_t)crc;
}

void epoch_setting_of_net(const cnn_network *network, epoch_setting *setting)
{
    const cnn_net *net = &network->net;
    copy_text(setting->net, sizeof setting->net, net->name);
    snprintf(setting->net_crc, sizeof setting->net_crc, "%08x", crc_of_layers(network));
    setting->net_params = 0;
    for (int i = 0; i < net->n_params; i++) setting->net_params += net->params[i].count;
}

/* The fields, once: written, read and compared from this table. */
typedef enum field_kind { FIELD_TEXT, FIELD_INT, FIELD_REAL, FIELD_BOOL } field_kind;

typedef struct field {
    const char *key;
    field_kind kind;
    size_t offset, size; /* in epoch_row */
    bool of_session;     /* written by record_session() */
} field;

#define SETTING(name, kind, of_session)                                                                                \
    {                                                                                                                  \
#name, kind, offsetof(epoch_row, setting.name), sizeof((epoch_row *)0)->setting.name, of_session               \
    }
#define FIGURE(name, kind)                                                                                             \
    {                                                                                                                  \
#name, kind, offsetof(epoch_row, name), sizeof((epoch_row *)0)->name, false                                    \
    }

static const field fields[] = {
    SETTING(impl, FIELD_TEXT, true),
    SETTING(algorithm, FIELD_TEXT, true),
    SETTING(threads, FIELD_INT, true),
    SETTING(net, FIELD_TEXT, false),
    SETTING(net_params, FIELD_INT, false),
    SETTING(net_crc, FIELD_TEXT, false),
    SETTING(data, FIELD_TEXT, false),
    SETTING(batch, FIELD_INT, false),
    SETTING(dtype, FIELD_TEXT, false),
    SETTING(layout, FIELD_TEXT, false),
    SETTING(math, FIELD_TEXT, false),
    SETTING(optimizer, FIELD_TEXT, false),
    SETTING(seed, FIELD_INT, false),
    SETTING(train_images, FIELD_INT, false),
    SETTING(test_images, FIELD_INT, false),
    SETTING(data_on, FIELD_TEXT, false),
    SETTING(graph, FIELD_BOOL, false),
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
    FIGURE(diverged, FIELD_BOOL),
};
enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

static const void *field_at(const epoch_row *row, const field *f) { return (const char *)row + f->offset; }

epoch_row epoch_row_of(const epoch_setting *setting, int64_t number, int64_t epochs, const trainer_result *r,
                       const clock_report *clocks)
{
    const bool diverged = !(isfinite(r->train_loss) && isfinite(r->test_loss));
    return (epoch_row){.setting = *setting,
                       .epoch = number,
                       .epochs = epochs,
                       .seconds = diverged ? NAN : r->seconds,
                       .train_s = diverged ? NAN : r->train_s,
                       .test_s = diverged ? NAN : r->test_s,
                       .train_loss = r->train_loss,
                       .test_loss = r->test_loss,
                       .train_accuracy = r->train_accuracy,
                       .test_accuracy = r->test_accuracy,
                       .images_per_s = diverged ? NAN : r->images_per_s,
                       .transfer_s = r->transfer_s,
                       .host_step_s = r->host_step_s,
                       .diverged = diverged,
                       .marks = clock_marks(clocks),
                       .clocks = *clocks};
}

cnn_record *epoch_record(const cnn_session *session, const epoch_row *row)
{
    char marks[128];
    cnn_record *record = record_new("epoch");
    record_session(record, session, row->setting.algorithm);
    for (int i = 0; i < FIELD_COUNT; i++) {
        const void *value = field_at(row, &fields[i]);
        if (fields[i].of_session) continue;
        if (fields[i].kind == FIELD_TEXT) record_text(record, fields[i].key, value);
        if (fields[i].kind == FIELD_INT) record_int(record, fields[i].key, *(const int64_t *)value);
        if (fields[i].kind == FIELD_REAL) record_real(record, fields[i].key, *(const double *)value);
        if (fields[i].kind == FIELD_BOOL) record_bool(record, fields[i].key, *(const bool *)value);
    }
    clock_record(record, &row->clocks);
    record_text(record, "marks", bench_marks_text(row->marks, marks, sizeof marks));
    return record;
}

static bool same_text(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* Field by field: the bytes of texts behind their ends differ. */
bool epoch_same_setting(const epoch_setting *a, const epoch_setting *b)
{
    return same_text(a->impl, b->impl) && same_text(a->algorithm, b->algorithm) && same_text(a->net, b->net) &&
           same_text(a->net_crc, b->net_crc) && a->net_params == b->net_params && same_text(a->data, b->data) &&
           same_text(a->dtype, b->dtype) && same_text(a->layout, b->layout) && same_text(a->math, b->math) &&
           same_text(a->optimizer, b->optimizer) && same_text(a->knobs, b->knobs) && same_text(a->cpu, b->cpu) &&
           same_text(a->gpu, b->gpu) && same_text(a->data_on, b->data_on) && a->graph == b->graph &&
           a->batch == b->batch && a->threads == b->threads && a->cores == b->cores && a->seed == b->seed &&
           a->train_images == b->train_images && a->test_images == b->test_images;
}

/* ---- Reading ---- */

typedef struct reader {
    epoch_table *table;
    char cpu[CNN_NAME_MAX], gpu[CNN_NAME_MAX]; /* of the environment record last seen */
    int64_t cores;
} reader;

/* Absent numbers are NaN, or 0 where a whole one is expected. */
static void get_number(const cnn_record *record, const field *f, epoch_row *row)
{
    void *place = (char *)row + f->offset;
    double value = NAN;
    record_get_real(record, f->key, &value);
    if (f->kind == FIELD_REAL)
        *(double *)place = value;
    else
        *(int64_t *)place = value >= -9e18 && value <= 9e18 ? (int64_t)value : 0;
}

static bool get_bool(const cnn_record *record, const char *key)
{
    char text[8];
    return record_get_json(record, key, text, (int)sizeof text) && same_text(text, "true");
}

static void get_row(const cnn_record *record, const reader *from, epoch_row *row)
{
    epoch_setting *s = &row->setting;
    memset(row, 0, sizeof *row);
    for (int i = 0; i < FIELD_COUNT; i++) {
        const field *f = &fields[i];
        if (f->kind == FIELD_TEXT)
            copy_text((char *)row + f->offset, f->size, record_get_text(record, f->key));
        else if (f->kind == FIELD_BOOL)
            *(bool *)((char *)row + f->offset) = get_bool(record, f->key);
        else
            get_number(record, f, row);
    }
    copy_knobs(s->knobs, sizeof s->knobs, record);
    if (s->data_on[0] == '\0') copy_text(s->data_on, sizeof s->data_on, "device"); /* older records: no choice yet */
    copy_text(s->cpu, sizeof s->cpu, from->cpu);
    copy_text(s->gpu, sizeof s->gpu, from->gpu);
    s->cores = from->cores;
    row->marks = bench_marks_of(record_get_text(record, "marks"));
}

static cnn_status read_record(void *user, const cnn_record *record, cnn_error *err)
{
    reader *from = user;
    double cores;
    epoch_row row;
    const char *kind = record_get_text(record, "kind");
    if (strcmp(kind, "env") == 0) {
        copy_text(from->cpu, sizeof from->cpu, record_get_text(record, "cpu"));
        copy_text(from->gpu, sizeof from->gpu, record_get_inner_text(record, "implementation", "gpu"));
        from->cores = record_get_real(record, "cores", &cores) ? (int64_t)cores : 0;
    }
    if (strcmp(kind, "epoch") != 0) return CNN_OK;
    get_row(record, from, &row);
    /* Without a time and a batch it cannot be drawn or counted as done. */
    const bool told = row.seconds > 0 || row.diverged;
    return told && row.setting.batch > 0 ? epoch_table_add(from->table, &row, err) : CNN_OK;
}

cnn_status epoch_table_read(epoch_table *table, const char *path, int *bad, cnn_error *err)
{
    reader from = {.table = table};
    return record_read(path, read_record, &from, bad, err);
}
