/* cmd_describe.c: `benchcnn describe`: what a descriptor stands for: every field, what the operation reads and writes
 * in each direction, what it computes and moves at least, and on devices whose ceilings are in a file the floor of its
 * time. */
#include "bench/measure/peaks.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "harness/problem/shape.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct description {
    const cli_options *options;
    cnn_op op;
    cnn_problem_defaults defaults;
    bench_peaks peaks;
    record_sink *sink;
} description;

static void shape_text(const cnn_operand *o, char *text, size_t size)
{
    int64_t dims[5];
    int n = cnn_operand_dims(o, dims);
    while (o->shape == CNN_SHAPE_FLAT && n > 1 && dims[n - 1] == 1) n--;
    text[0] = '\0';
    for (int i = 0; i < n; i++) cnn_append(text, size, "%s%lld", i > 0 ? " x " : "", (long long)dims[i]);
}

static const char *elem_name(const cnn_type *t, cnn_elem e)
{
    if (cnn_elem_real(e)) return cnn_dtype_name(cnn_elem_dtype(t, e));
    return e == CNN_ELEM_I32 ? "i32" : e == CNN_ELEM_I64 ? "i64" : "f64";
}

static const char *access_name(cnn_access access)
{
    return access == CNN_IN ? "in" : access == CNN_OUT ? "out" : "in, out";
}

/* The machine's ceiling with the most threads: one floor each. */
static bool stands_for_device(const bench_peaks *peaks, int index)
{
    const bench_peak *p = &peaks->list[index];
    for (int i = 0; i < peaks->count; i++) {
        const bench_peak *q = &peaks->list[i];
        const bool more = q->threads > p->threads || (q->threads == p->threads && i < index);
        if (strcmp(q->machine, p->machine) == 0 && more) return false;
    }
    return true;
}

/* By the text, or by --mb. */
static bool is_given(const cnn_field *f, const cli_options *o)
{
    return f->given || (o->mb != NULL && strcmp(f->name, "mb") == 0);
}

/* ---- Text. */

static void print_fields(const cnn_problem *p, const char *text, const cli_options *o)
{
    cnn_field fields[CNN_FIELDS_MAX];
    char line[1024] = " ";
    const int count = cnn_problem_fields(p, text, fields);
    for (int i = 0; i < count; i++)
        cnn_append(line, sizeof line, " %s=%s%s", fields[i].name, fields[i].value, is_given(&fields[i], o) ? "" : "*");
    table_print(4, "%s    (* not given: deduced, or the default)\n", line);
}

static void print_floors(const description *d, const cnn_problem *p, cnn_dir dir)
{
    for (int i = 0; i < d->peaks.count; i++) {
        const bench_peak *device = &d->peaks.list[i];
        bench_floor floor;
        if (!stands_for_device(&d->peaks, i)) continue;
        if (bench_floor_cold(&d->peaks, device, p, dir, &floor))
            table_print(8, "    floor %.3g µs on %s, %d thread%s, from memory, by %s\n", floor.seconds * 1e6,
                        device->machine, device->threads, device->threads == 1 ? "" : "s", floor.by);
        else
            table_print(8, "    no floor on %s: %s lacks its ceiling of %s arithmetic or of memory\n", device->machine,
                        d->peaks.source, cnn_dtype_name(p->u.type.dtype));
    }
}

static void print_direction(const description *d, const cnn_problem *p, cnn_dir dir, const cnn_operand *operands,
                            int count)
{
    const double flops = cnn_flops(p, dir), bytes = cnn_bytes(p, dir);
    table_print(8, "  %-5s %.0f FLOP, %.0f bytes at least, %.3g FLOP/byte\n", cnn_dir_name(dir), flops, bytes,
                flops / bytes);
    for (int i = 0; i < count; i++) {
        char shape[128];
        shape_text(&operands[i], shape, sizeof shape);
        table_print(8, "    %-7s %-12s %-3s %-24s %12zu bytes\n", access_name(operands[i].access), operands[i].name,
                    elem_name(&p->u.type, operands[i].elem), shape, operands[i].bytes);
    }
    print_floors(d, p, dir);
}

/* ---- Records. */

static cnn_status write_direction(const description *d, const cnn_problem *p, const char *text, cnn_dir dir,
                                  const cnn_operand *operands, int count, cnn_error *err)
{
    cnn_field fields[CNN_FIELDS_MAX];
    record_pair pairs[CNN_FIELDS_MAX], shapes[CNN_MAX_OPERANDS], bytes[CNN_MAX_OPERANDS], uses[CNN_MAX_OPERANDS];
    const int n = cnn_problem_fields(p, text, fields);
    char deduced[512] = "";
    for (int i = 0; i < n; i++) {
        snprintf(pairs[i].key, sizeof pairs[i].key, "%s", fields[i].name);
        snprintf(pairs[i].value, sizeof pairs[i].value, "%s", fields[i].value);
        if (!is_given(&fields[i], d->options))
            cnn_append(deduced, sizeof deduced, "%s%s", deduced[0] != '\0' ? " " : "", fields[i].name);
    }
    for (int i = 0; i < count; i++) {
        const cnn_operand *o = &operands[i];
        shape_text(o, shapes[i].value, sizeof shapes[i].value);
        snprintf(bytes[i].value, sizeof bytes[i].value, "%zu", o->bytes);
        snprintf(uses[i].value, sizeof uses[i].value, "%s", access_name(o->access));
        snprintf(shapes[i].key, sizeof shapes[i].key, "%s", o->name);
        memcpy(bytes[i].key, shapes[i].key, sizeof bytes[i].key);
        memcpy(uses[i].key, shapes[i].key, sizeof uses[i].key);
    }
    cnn_record *record = record_new("description");
    record_problem(record, p, dir);
    record_text_pairs(record, "fields", pairs, n);
    record_text(record, "deduced", deduced);
    record_text_pairs(record, "operands", uses, count);
    record_text_pairs(record, "shapes", shapes, count);
    record_int_pairs(record, "operand_bytes", bytes, count);
    record_real(record, "flops", cnn_flops(p, dir));
    record_real(record, "bytes", cnn_bytes(p, dir));
    return record_write(d->sink, record, err);
}

static cnn_status write_floors(const description *d, const cnn_problem *p, cnn_dir dir, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < d->peaks.count; i++) {
        bench_floor floor;
        if (!stands_for_device(&d->peaks, i)) continue;
        if (!bench_floor_cold(&d->peaks, &d->peaks.list[i], p, dir, &floor)) continue;
        cnn_record *record = record_new("floor");
        record_problem(record, p, dir);
        record_text(record, "machine", d->peaks.list[i].machine);
        record_int(record, "threads", d->peaks.list[i].threads);
        record_real(record, "floor_s", floor.seconds);
        record_text(record, "floor_by", floor.by);
        status = record_write(d->sink, record, err);
    }
    return status;
}

/* ---- The command. */

static cnn_status describe(const description *d, const char *text, cnn_error *err)
{
    cnn_problem p;
    cnn_status status = cnn_problem_parse(d->op, text, &d->defaults, &p, err);
    if (status != CNN_OK) return status;
    char canonical[CNN_PROBLEM_TEXT_MAX];
    cnn_problem_format(&p, canonical);
    if (!d->options->json) {
        table_print(4, "%s %s  %s %s\n", cnn_op_name(p.op), canonical, cnn_dtype_name(p.u.type.dtype),
                    cnn_layout_name(p.u.type.layout));
        print_fields(&p, text, d->options);
    }
    for (int dir = 0; status == CNN_OK && dir < CNN_DIR_COUNT; dir++) {
        cnn_operand operands[CNN_MAX_OPERANDS];
        if (!(cnn_op_dirs(&p) & 1u << dir)) continue;
        const int count = cnn_operands(&p, (cnn_dir)dir, operands, err);
        if (count < 0) return err->status;
        if (!d->options->json) print_direction(d, &p, (cnn_dir)dir, operands, count);
        status = write_direction(d, &p, text, (cnn_dir)dir, operands, count, err);
        if (status == CNN_OK) status = write_floors(d, &p, (cnn_dir)dir, err);
    }
    return status;
}

static cnn_status read_options(description *d, cnn_error *err)
{
    const cli_options *o = d->options;
    cli_type_set set;
    cnn_status status = cli_types(o, &set, err);
    if (status == CNN_OK) status = cli_one_batch(o, "describe takes one", err);
    if (status != CNN_OK) return status;
    if (set.count != 1)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "describe takes one --dtype and one --layout, not %d pairs of them",
                        set.count);
    const int op = o->op == NULL ? (int)CNN_OP_CONV : cnn_name_find(&cnn_op_names, o->op, err);
    if (op < 0) return err->status;
    d->op = (cnn_op)op;
    d->defaults = cli_problem_defaults(o, &set.types[0]);
    status = cli_epilogue(o, &d->defaults.epilogue, err);
    for (int i = 0; status == CNN_OK && i < o->words.count; i++) {
        cnn_problem p;
        status = cnn_problem_parse(d->op, o->words.items[i], &d->defaults, &p, err);
    }
    return status;
}

cnn_status args_describe(const cli_options *options, cnn_error *err)
{
    description d = {.options = options};
    return read_options(&d, err);
}

int cmd_describe(const cli_options *options, cnn_error *err)
{
    description d = {.options = options};
    const char *file = options->peaks;
    cnn_status status = read_options(&d, err);
    if (status == CNN_OK && file != NULL && strcasecmp(file, "none") != 0)
        status = bench_peaks_read(&d.peaks, file, err);
    if (status == CNN_OK) status = cli_sink_json(options, &d.sink, err);
    for (int i = 0; status == CNN_OK && i < options->words.count; i++)
        status = describe(&d, options->words.items[i], err);
    record_sink_close(d.sink);
    bench_peaks_free(&d.peaks);
    return status == CNN_OK ? EXIT_HELD : cli_fail(err);
}
