/* cmd_import.c: `benchcnn import FILE.json... --out RECORDS.jsonl`: timings that other programs took, as records. All
 * files are read before the first record is written. */
#include "bench/import/import.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "harness/base/input.h"

#include <stdlib.h>
#include <string.h>

cnn_status args_import(const cli_options *o, cnn_error *err)
{
    cnn_status status = CNN_OK;
    if (o->out == NULL && !o->json)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "import needs to know where the records go: --out RECORDS.jsonl");
    for (int i = 0; i < o->words.count && status == CNN_OK; i++)
        status = cli_keep_apart(o->out, "a file that is imported", o->words.items[i], err);
    return status;
}

typedef struct known {
    const import_set *set;
    bool there;
} known;

static cnn_status look(void *user, const cnn_record *record, cnn_error *err)
{
    known *k = user;
    const char *id = record_get_text(record, "source_id");
    (void)err;
    k->there = k->there || (id != NULL && strcmp(id, k->set->id) == 0);
    return CNN_OK;
}

/* The same file once more would count as another run of all that is in it. */
static cnn_status check_new(const cli_options *o, const import_set *sets, int index, cnn_error *err)
{
    const char *path = o->words.items[index];
    known k = {.set = &sets[index]};
    int bad;
    for (int i = 0; i < index; i++)
        if (strcmp(sets[i].id, sets[index].id) == 0)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%.250s holds what %.250s holds: name it once", path,
                            o->words.items[i]);
    if (!cnn_is_plain_file(o->out)) return CNN_OK;
    const cnn_status status = record_read(o->out, look, &k, &bad, err);
    if (status != CNN_OK || !k.there) return status;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%.250s is in %.250s already, and would count as another run", path, o->out);
}

static cnn_status write_set(const import_set *set, bool here, record_sink *sink, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < set->count; i++) {
        if (here) record_here(set->list[i]);
        status = record_write(sink, set->list[i], err);
        set->list[i] = NULL; /* it is freed */
    }
    return status;
}

static void print(const char *path, const import_set *set, int count)
{
    char without[96] = "";
    if (set->timed < count)
        snprintf(without, sizeof without, "; %d without a time: FAILED, SKIPPED or TOO_SHORT", count - set->timed);
    table_put(stdout, "%s: %d timing%s of %s%s\n", path, set->timed, set->timed == 1 ? "" : "s", set->by, without);
}

int cmd_import(const cli_options *options, cnn_error *err)
{
    const int count = options->words.count;
    record_sink *sink = NULL;
    import_set *sets = calloc((size_t)count, sizeof *sets);
    cnn_status status = sets != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d files", count);
    int timed = 0;
    for (int i = 0; i < count && status == CNN_OK; i++) {
        status = import_read(options->words.items[i], &sets[i], err);
        if (status == CNN_OK) status = check_new(options, sets, i, err);
    }
    if (status == CNN_OK) status = cli_sink_open(options, &sink, err);
    for (int i = 0; i < count && status == CNN_OK; i++) {
        status = write_set(&sets[i], options->here, sink, err);
        timed += sets[i].timed;
        if (status == CNN_OK && !options->json && !options->quiet)
            print(options->words.items[i], &sets[i], sets[i].count);
    }
    record_sink_close(sink);
    for (int i = 0; i < count && sets != NULL; i++) import_free(&sets[i]);
    free(sets);
    if (status != CNN_OK) return cli_fail(err);
    return timed > 0 ? EXIT_HELD : EXIT_NOTHING;
}
