/* cmd_check.c: `benchcnn check FILE...`: whether files of records are what docs/records.md says: each line and field
 * that is not, with what it must be. */
#include "cli/cli.h"
#include "cli/table.h"
#include "harness/base/text.h"

#include <string.h>

typedef struct checking {
    const char *path;
    int line;
    int64_t records, faults, unknown; /* unknown: fields of another version */
    cnn_said said;                    /* of these, each is told once */
} checking;

cnn_status args_check(const cli_options *options, cnn_error *err)
{
    (void)options;
    (void)err;
    return CNN_OK;
}

static void take_fault(void *user, const char *field, const char *what, bool grave)
{
    checking *c = user;
    char text[1024];
    c->faults += grave;
    c->unknown += !grave;
    snprintf(text, sizeof text, "%s %s", field, what);
    if (grave)
        table_print(4, "%s:%d: %s\n", c->path, c->line, text);
    else if (cnn_say_now(&c->said, text))
        table_put(stderr, "%s:%d: %s\n", c->path, c->line, text);
}

static void take_bad_line(void *user, int number, const char *line)
{
    checking *c = user;
    c->faults++;
    table_print(4, "%s:%d: '%.60s' is no record, {\"kind\":...}\n", c->path, number, line);
}

static cnn_status take_record(void *user, const cnn_record *record, cnn_error *err)
{
    checking *c = user;
    (void)err;
    c->records++;
    c->line = record_line(record);
    record_check(record, take_fault, c);
    return CNN_OK;
}

int cmd_check(const cli_options *options, cnn_error *err)
{
    checking c = {.records = 0};
    cnn_status status = CNN_OK;
    for (int i = 0; i < options->words.count && status == CNN_OK; i++) {
        c.path = options->words.items[i];
        status = record_read_lines(c.path, take_record, take_bad_line, &c, err);
    }
    cnn_said_free(&c.said);
    if (status != CNN_OK) return cli_fail(err);
    if (!options->quiet)
        printf("%lld record%s: %lld fault%s, %lld field%s of another version\n", (long long)c.records,
               c.records == 1 ? "" : "s", (long long)c.faults, c.faults == 1 ? "" : "s", (long long)c.unknown,
               c.unknown == 1 ? "" : "s");
    return c.faults > 0 ? EXIT_FAILED : c.records > 0 ? EXIT_HELD : EXIT_NOTHING;
}
