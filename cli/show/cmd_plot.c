/* cmd_plot.c: `benchcnn plot [speedup|roofline] FILE.jsonl...`: which picture. Each kind is a file plot_KIND.c. */
#include "harness/problem/names.h"
#include "plot_parts.h"

#include <string.h>
#include <unistd.h>

typedef cnn_status plot_kind(const cli_options *options, cnn_error *err);

/* Without a kind: epochs. */
static const struct {
    const char *name;
    plot_kind *draw;
} kinds[] = {{"speedup", plot_speedup}, {"roofline", plot_roofline}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static plot_kind *kind_of(const char *word)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(word, kinds[i].name) == 0) return kinds[i].draw;
    return NULL;
}

cnn_status args_plot(const cli_options *options, cnn_error *err)
{
    const char *names[KINDS];
    for (int i = 0; i < KINDS; i++) names[i] = kinds[i].name;
    if (options->words.count == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "plot needs record files: benchcnn plot FILE.jsonl... [--out NAME]");
    const char *word = options->words.items[0];
    const bool named = kind_of(word) != NULL;
    if (named && options->words.count == 1)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "plot %s needs record files: benchcnn plot %s FILE.jsonl... [--out NAME]", word, word);
    if ((options->baseline || options->impl) && kind_of(word) != plot_speedup)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s goes with plot speedup, and means nothing without it",
                        options->baseline ? "baseline" : "impl");
    const char *nearest = named || access(word, F_OK) == 0 ? NULL : cnn_nearest_name(word, names, KINDS);
    if (!nearest) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "'%.64s' is no file, and no kind of plot; did you mean '%s'?", word,
                    nearest);
}

int cmd_plot(const cli_options *options, cnn_error *err)
{
    plot_kind *draw = kind_of(options->words.items[0]);
    return (draw ? draw : plot_epochs)(options, err) == CNN_OK ? EXIT_HELD : cli_fail(err);
}
