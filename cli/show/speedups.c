/* speedups.c: from the command line to speedups, and to how many problems are solved. */
#include "cli/table.h"
#include "parts.h"

cnn_status cli_speedups(const cli_options *options, int first, bool say, speedup_set *set, cnn_error *err)
{
    const speedup_request request = {.impl = options->impl, .baseline = options->baseline, .fallback = "cpu:naive"};
    for (int i = first; i < options->words.count; i++) {
        int bad = 0;
        const cnn_status status = speedup_read(set, options->words.items[i], &bad, err);
        if (status != CNN_OK) return status;
        if (say) cli_say_bad_lines(options->words.items[i], bad);
    }
    return speedup_make(set, &request, err);
}

void cli_speedups_end(const cli_options *options, speedup_set *set)
{
    for (int i = 0; i < set->n_notes && !options->quiet; i++) table_put(stderr, "benchcnn: %s\n", set->notes[i]);
    speedup_free(set);
}

static cnn_status read_solved(const cli_options *options, int first, bool say, solved_set *set, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = first; i < options->words.count && status == CNN_OK; i++) {
        int bad = 0;
        status = solved_read(set, options->words.items[i], &bad, err);
        if (status == CNN_OK && say) cli_say_bad_lines(options->words.items[i], bad);
    }
    return status == CNN_OK ? solved_make(set, err) : status;
}

cnn_status cli_solved(const cli_options *options, int first, int most, bool say, solved_set *set, cnn_error *err)
{
    const solved_request request = {.impl = options->impl, .baseline = options->baseline, .by = options->by};
    *set = (solved_set){.request = request};
    cnn_status status = read_solved(options, first, say, set, err);
    const int algorithms = set->n_candidates;
    say = say && !options->quiet;
    if (status == CNN_OK && !request.impl && most > 0 && algorithms > most) {
        solved_free(set);
        *set = (solved_set){.request = {.impl = "*", .baseline = request.baseline, .by = request.by}};
        status = read_solved(options, first, false, set, err);
        if (say && status == CNN_OK)
            table_put(stderr,
                      "benchcnn: %d algorithms are too many for a picture: each implementation at its fastest, problem "
                      "by problem; --impl chooses others\n",
                      algorithms);
    }
    if (status == CNN_OK && say && set->left_out > 0)
        table_put(stderr, "benchcnn: %d problem%s left out: the baseline %s has not timed %s\n", set->left_out,
                  set->left_out == 1 ? "" : "s", options->baseline, set->left_out == 1 ? "it" : "them");
    return status;
}
