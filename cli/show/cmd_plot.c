/* cmd_plot.c: `benchcnn plot [curves|workers|ranks|goals|sweep|bars|speedup|solved|roofline|floor|errors|
 * kills] FILE.jsonl...`: which picture, of which files. What it shows is made in bench/figures. */
#include "harness/problem/names.h"
#include "parts.h"
#include "plots.h"

#include <string.h>
#include <unistd.h>

enum { KINDS = 12 };
static const char *const kinds[KINDS] = {"curves",  "workers", "ranks",    "goals", "sweep",  "bars",
                                         "speedup", "solved",  "roofline", "floor", "errors", "kills"};
static plot_kind *const plots[KINDS] = {plot_curves,  plot_workers, plot_ranks,    plot_goals, plot_sweep,  plot_bars,
                                        plot_speedup, plot_solved,  plot_roofline, plot_floor, plot_errors, plot_kills};

/* NULL: the word is a file, of epochs. */
static plot_kind *kind_of(const char *word)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(word, kinds[i]) == 0) return plots[i];
    return NULL;
}

cnn_status cli_plot_svg(const cli_options *options, int most, FILE *svg, cnn_error *err)
{
    const plot_to to = {.svg = svg, .most = most};
    plot_kind *draw_kind = kind_of(options->words.items[0]);
    return (draw_kind ? draw_kind : plot_epochs)(options, &to, err);
}

cnn_status args_plot(const cli_options *options, cnn_error *err)
{
    const char *word = options->words.items[0];
    const bool named = kind_of(word) != NULL;
    if (named && options->words.count == 1)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "plot %s needs record files: benchcnn plot %s FILE.jsonl... [--out NAME]", word, word);
    const bool over = kind_of(word) == plot_speedup || kind_of(word) == plot_solved;
    if (options->baseline && !over)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--baseline goes with plot speedup and plot solved, and means nothing without them");
    if (options->impl && !over && kind_of(word) != plot_bars && kind_of(word) != plot_errors)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--impl goes with plot speedup, solved, bars and errors, and means nothing without them");
    if (options->match && kind_of(word) != plot_sweep)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--match goes with plot sweep, and means nothing without it");
    if (options->dir && kind_of(word) != plot_bars)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--dir goes with plot bars, and means nothing without it");
    const char *nearest = named || access(word, F_OK) == 0 ? NULL : cnn_nearest_name(word, kinds, KINDS);
    if (!nearest) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "'%.64s' is no file, and no kind of plot; did you mean '%s'?", word,
                    nearest);
}

/* Without a kind: what the files hold is drawn, the first kind that there is, and the others are named. Files that hold
 * nothing are told as files without epochs. */
static cnn_status plot_what_is_there(const cli_options *options, const plot_to *to, cnn_error *err)
{
    static cli_options own; /* large: kept off the stack */
    const char *held[PLOT_KINDS_MAX];
    int count;
    cnn_status status = cli_plot_kinds(options, held, &count, err);
    if (status != CNN_OK) return status;
    own = *options;
    if (count == 0 || held[0][0] == '\0' || options->words.count == CLI_LIST_MAX) {
        status = plot_epochs(options, to, err);
    } else {
        memmove(&own.words.items[1], &own.words.items[0], (size_t)own.words.count * sizeof *own.words.items);
        own.words.items[0] = held[0];
        own.words.count++;
        status = kind_of(held[0])(&own, to, err);
    }
    for (int i = 1; status == CNN_OK && plot_says(to) && !options->quiet && i < count; i++)
        fprintf(stderr, "%s plot %s%s", i == 1 ? "beside this:" : ",", held[i], i == count - 1 ? "\n" : "");
    return status;
}

int cmd_plot(const cli_options *options, cnn_error *err)
{
    bool stale = false;
    plot_to to = {.stale = options->dry_run ? &stale : NULL};
    plot_kind *draw_kind = kind_of(options->words.items[0]);
    plot_name(options, options->words.items[draw_kind ? 1 : 0], to.name);
    const cnn_status status = (draw_kind ? draw_kind : plot_what_is_there)(options, &to, err);
    return status != CNN_OK ? cli_fail(err) : stale ? EXIT_FAILED : EXIT_HELD;
}
