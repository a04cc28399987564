/* cmd_table.c: `benchcnn table FILE.jsonl...`: the records of any command as a table for others: text, Markdown, CSV.
 * One kind of record a table: the first one of export.inc that there is, or the one that --kind names. */
#include "harness/problem/names.h"
#include "parts.h"
#include "scaling.h"

#include <string.h>

typedef struct export_run {
    export_table tables[EXPORT_TABLES];
    export_format format;
    int kind; /* in tables; -1: not named */
    int part; /* how many of its rows are a table of their own for people: they share few columns with the rest */
} export_run;

/* Speedups, what is solved and points of scaling are in no record: they are made of several. */
static bool is_of(const export_run *r, const char *kind)
{
    return r->kind >= 0 && strcmp(r->tables[r->kind].name, kind) == 0;
}

static cnn_status read_options(const cli_options *o, export_run *r, cnn_error *err)
{
    const char *kinds[EXPORT_TABLES];
    *r = (export_run){.kind = -1};
    export_tables(r->tables);
    for (int i = 0; i < EXPORT_TABLES; i++) kinds[i] = r->tables[i].name;
    const cnn_name_set kind_names = {"kind of table", kinds, EXPORT_TABLES};
    static const char *const formats[] = {"text", "markdown", "csv", "junit", "github"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(o->format, formats[i]) == 0) r->format = (export_format)i;
    if (o->kind && (r->kind = cnn_name_find(&kind_names, o->kind, err)) < 0) return err->status;
    if ((o->baseline || o->impl) && !is_of(r, "speedups") && !is_of(r, "solved"))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--%s goes with --kind speedups and --kind solved, and means nothing without them",
                        o->baseline ? "baseline" : "impl");
    if (o->by && !is_of(r, "solved"))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--by goes with --kind solved, and means nothing without it");
    return o->by ? record_identity_fields(o->by, IDENTITY_TASK, err) : CNN_OK;
}

static void release(export_run *r)
{
    for (int i = 0; i < EXPORT_TABLES; i++) export_free(&r->tables[i]);
}

cnn_status args_table(const cli_options *options, cnn_error *err)
{
    export_run r;
    const cnn_status status = read_options(options, &r, err);
    release(&r);
    return status;
}

static cnn_status add_one(void *user, const cnn_record *record, cnn_error *err)
{
    export_run *r = user;
    return export_add(r->tables, record, r->format >= EXPORT_CSV, err);
}

static cnn_status read_files(const cli_options *o, export_run *r, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < o->words.count; i++) {
        int bad = 0;
        status = record_read(o->words.items[i], add_one, r, &bad, err);
        if (status == CNN_OK) cli_say_bad_lines(o->words.items[i], bad);
    }
    return status;
}

static cnn_status add_speedups(const cli_options *o, export_run *r, cnn_error *err)
{
    speedup_set set = {.count = 0};
    cnn_status status = cli_speedups(o, 0, true, &set, err);
    for (int i = 0; status == CNN_OK && i < set.count; i++) {
        cnn_record *record = speedup_record(&set.rows[i]);
        status = record ? export_add(r->tables, record, false, err)
                        : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a table");
        record_free(record);
        r->part += set.rows[i].own->epoch != NULL;
    }
    cli_speedups_end(o, &set);
    return status;
}

/* Its candidates one below the other. */
static cnn_status add_group(const solved_set *set, int group, export_run *r, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int c = 0; c < set->n_candidates && status == CNN_OK; c++) {
        cnn_record *record = solved_record(set, c, group);
        status = record ? export_add(r->tables, record, r->format >= EXPORT_CSV, err)
                        : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a table");
        record_free(record);
    }
    return status;
}

static cnn_status add_solved(const cli_options *o, export_run *r, cnn_error *err)
{
    solved_set set;
    cnn_status status = cli_solved(o, 0, 0, true, &set, err);
    for (int g = 0; o->by && g < set.groups.count && status == CNN_OK; g++)
        if (solved_has(&set, g)) status = add_group(&set, g, r, err);
    if (status == CNN_OK) status = add_group(&set, SOLVED_ALL, r, err);
    solved_free(&set);
    return status;
}

static cnn_status add_scaling(const cli_options *o, export_run *r, cnn_error *err)
{
    scaling_set set = {.count = 0};
    cnn_status status = cli_scaling(o->words.items, o->words.count, true, &set, err);
    for (int i = 0; i < set.count && status == CNN_OK; i++)
        for (int k = 0; k < set.list[i].count && status == CNN_OK; k++) {
            cnn_record *record = scaling_record(&set.list[i], &set.list[i].points[k]);
            status = record != NULL ? export_add(r->tables, record, r->format >= EXPORT_CSV, err)
                                    : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a table");
            record_free(record);
        }
    scaling_free(&set);
    return status;
}

/* For people with what there is to say about the models. */
static cnn_status show_scaling(const cli_options *o, cnn_error *err)
{
    scaling_set set = {.count = 0};
    cnn_status status = cli_scaling(o->words.items, o->words.count, true, &set, err);
    if (status == CNN_OK) status = cli_show_scaling(&set, err);
    scaling_free(&set);
    return status;
}

/* Which is printed; what else there is, is said. */
static cnn_status choose(const cli_options *o, export_run *r, cnn_error *err)
{
    if (r->kind < 0 && r->format >= EXPORT_JUNIT)
        for (int i = 0; i < EXPORT_TABLES; i++)
            if (strcmp(r->tables[i].name, "checks") == 0) r->kind = i;
    const bool named = r->kind >= 0;
    for (int i = 0; r->kind < 0 && i < EXPORT_TABLES; i++)
        if (r->tables[i].count > 0) r->kind = i;
    if (r->kind < 0 || r->tables[r->kind].count == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%.300s%s no %s", o->words.items[0],
                        o->words.count > 1 ? " and the other files hold" : " holds",
                        named ? r->tables[r->kind].what : "record that makes a table");
    for (int i = 0; !named && !o->quiet && i < EXPORT_TABLES; i++)
        if (i != r->kind && r->tables[i].count > 0)
            fprintf(stderr, "beside these: %d %.*s, --kind %s\n", r->tables[i].count,
                    (int)strlen(r->tables[i].what) - (r->tables[i].count == 1), r->tables[i].what, r->tables[i].name);
    return CNN_OK;
}

static cnn_status print(const export_run *r, cnn_error *err)
{
    const export_table *all = &r->tables[r->kind];
    if (r->format == EXPORT_CSV || r->part == 0 || r->part == all->count) return export_print(all, r->format, err);
    export_table first = *all, rest = *all;
    first.count = r->part;
    rest.rows += r->part;
    rest.count -= r->part;
    const cnn_status status = export_print(&first, r->format, err);
    putchar('\n');
    return status == CNN_OK ? export_print(&rest, r->format, err) : status;
}

static cnn_status show(const cli_options *options, export_run *r, cnn_error *err)
{
    cnn_status status = is_of(r, "speedups")  ? add_speedups(options, r, err)
                        : is_of(r, "solved")  ? add_solved(options, r, err)
                        : is_of(r, "scaling") ? add_scaling(options, r, err)
                                              : read_files(options, r, err);
    if (status == CNN_OK) status = choose(options, r, err);
    if (status != CNN_OK) return status;
    return r->format >= EXPORT_JUNIT ? export_report(&r->tables[r->kind], r->format, err) : print(r, err);
}

int cmd_table(const cli_options *options, cnn_error *err)
{
    export_run r;
    cnn_status status = read_options(options, &r, err);
    if (status == CNN_OK)
        status = is_of(&r, "scaling") && r.format == EXPORT_TEXT ? show_scaling(options, err) : show(options, &r, err);
    release(&r);
    return status == CNN_OK ? EXIT_HELD : cli_fail(err);
}
