/* speedups.c: from the command line to speedups. */
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
