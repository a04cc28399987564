/* cmd_run.c: `benchcnn run FILE --out RECORDS`: a recipe: benchcnn's own commands, a line each, all checked before the
 * first one starts. $OUT in a line stands for RECORDS, other variables are the environment's. What was finished stands
 * there too (records of kind "step"), so the same command goes on where it stopped. A line that was changed since, or
 * failed, is run again. */
#include "cli/cli.h"
#include "cli/table.h"
#include "parts.h"

#include <stdlib.h>

cnn_status args_run(const cli_options *o, cnn_error *err)
{
    if (o->out == NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "run needs --out RECORDS.jsonl: what was finished stands there");
    return CNN_OK;
}

static cnn_status set_up(recipe *r, cnn_error *err)
{
    const cli_options *o = r->options;
    r->path = o->words.items[0];
    if (setenv("OUT", o->out, 1) != 0) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "$OUT cannot be set");
    cnn_status status = run_read(r, err);
    if (status == CNN_OK) status = cli_sink_open(o, &r->sink, err); /* makes the file */
    return status == CNN_OK ? run_find_done(r, err) : status;
}

static cnn_status run_steps(recipe *r, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < r->count; i++) {
        const step *s = &r->steps[i];
        table_put(stdout, "[%d/%d] %s%s\n", i + 1, r->count, s->text, s->done ? " (done before)" : "");
        if (s->left_out != NULL) table_put(stdout, "    left out: %s\n", s->left_out);
        r->left += s->left_out != NULL;
        if (!s->done && s->left_out == NULL) status = run_step(r, s, err);
    }
    return status;
}

int cmd_run(const cli_options *options, cnn_error *err)
{
    recipe r = {.options = options};
    cnn_status status = set_up(&r, err);
    if (status == CNN_OK && !options->dry_run) status = run_steps(&r, err);
    if (status == CNN_OK && options->dry_run) table_put(stdout, "%s: %d commands, all well formed\n", r.path, r.count);
    const int result = status != CNN_OK   ? cli_fail(err)
                       : r.failed > 0     ? EXIT_FAILED
                       : r.left < r.count ? EXIT_HELD
                                          : EXIT_NOTHING;
    record_sink_close(r.sink);
    for (int i = 0; i < r.count; i++) {
        if (r.steps[i].words.we_wordv != NULL) wordfree(&r.steps[i].words);
        free(r.steps[i].text);
        free(r.steps[i].command);
        free(r.steps[i].left_out);
    }
    free(r.steps);
    return result;
}
