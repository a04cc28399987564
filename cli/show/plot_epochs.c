/* plot_epochs.c: the kinds of `plot` that show trainings. */
#include "bench/figures/curves.h"
#include "bench/figures/goals.h"
#include "bench/figures/workers.h"
#include "cli/table.h"
#include "parts.h"
#include "plots.h"
#include "scaling.h"

/* ---- Seconds per epoch */

static cnn_status read_epochs(const cli_options *options, int first, bool say, epoch_table *table, cnn_error *err)
{
    for (int i = first; i < options->words.count; i++) {
        int bad;
        const cnn_status status = epoch_table_read(table, options->words.items[i], &bad, err);
        if (status != CNN_OK) return status;
        if (say) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (table->superseded > 0 && say)
        fprintf(stderr, "left out: %d epoch record%s of points that another build has measured since\n",
                table->superseded, table->superseded == 1 ? "" : "s");
    if (table->count > 0) return CNN_OK;
    return CNN_FAIL(
        err, CNN_BAD_ARGUMENT,
        "%s holds no epoch records: `benchcnn sweep batch --out FILE` writes them; of single operations there are "
        "`plot speedup` and `plot roofline`",
        options->words.count == first + 1 ? options->words.items[first] : "none of the files");
}

static void say_diverged(int epochs)
{
    if (epochs > 0)
        fprintf(stderr, "benchcnn: %d epoch%s left out: the training diverged, its loss is not finite\n", epochs,
                epochs == 1 ? " is" : "s are");
}

static void say_left_out(const series_set *set)
{
    const epoch_setting *s = &set->list[0].setting;
    if (set->left_out > 0)
        table_put(stderr, "benchcnn: drawing network %s with %lld + %lld images; %d record%s of others left out\n",
                  s->net, (long long)s->train_images, (long long)s->test_images, set->left_out,
                  set->left_out == 1 ? "" : "s");
    say_diverged(set->diverged);
}

cnn_status plot_epochs(const cli_options *options, const plot_to *to, cnn_error *err)
{
    epoch_table table = {0};
    series_set set = {0};
    cnn_status status = read_epochs(options, 0, plot_says(to), &table, err);
    if (status == CNN_OK) status = series_make(&table, &set, err);
    if (status == CNN_OK && plot_says(to)) say_left_out(&set);
    if (status == CNN_OK) status = plot_crowd(to, set.count, err);
    if (status == CNN_OK) status = series_add_thesis(&set, err);
    if (status == CNN_OK) status = plot_draw("over_batch.gp", to, "", series_picture, &set, err);
    series_free(&set);
    epoch_table_free(&table);
    return status;
}

/* ---- Learning curves */

cnn_status plot_curves(const cli_options *options, const plot_to *to, cnn_error *err)
{
    epoch_table table = {0};
    curves_set set = {.count = 0};
    cnn_status status = read_epochs(options, 1, plot_says(to), &table, err);
    if (status == CNN_OK) status = curves_make(&table, &set, err);
    if (status == CNN_OK && plot_says(to)) say_diverged(set.diverged);
    if (status == CNN_OK) status = plot_crowd(to, set.runs.count, err);
    if (status == CNN_OK) status = plot_draw("curves.gp", to, "", curves_picture, &set, err);
    curves_free(&set);
    epoch_table_free(&table);
    return status;
}

/* ---- Seconds to a loss */

cnn_status plot_goals(const cli_options *options, const plot_to *to, cnn_error *err)
{
    goal_table goals = {.count = 0};
    epoch_table table = {.goals = &goals};
    goals_set set = {.count = 0};
    cnn_status status = CNN_OK;
    for (int i = 1, bad; i < options->words.count && status == CNN_OK; i++) {
        status = epoch_table_read(&table, options->words.items[i], &bad, err);
        if (status == CNN_OK && plot_says(to)) cli_say_bad_lines(options->words.items[i], bad);
    }
    if (status == CNN_OK) status = goals_make(&goals, &set, err);
    if (status == CNN_OK && set.left_out > 0 && plot_says(to))
        table_put(stderr, "benchcnn: of network %s alone; %d goal%s of others left out\n",
                  set.list[0].first->setting.net, set.left_out, set.left_out == 1 ? "" : "s");
    if (status == CNN_OK) status = goals_add_thesis(&set, err);
    if (status == CNN_OK && plot_says(to)) show_goals(&set);
    if (status == CNN_OK) status = plot_draw("over_batch.gp", to, "", goals_picture, &set, err);
    goals_free(&set);
    goal_table_free(&goals);
    epoch_table_free(&table);
    return status;
}

/* ---- Speedup over threads or workers */

cnn_status plot_workers(const cli_options *options, const plot_to *to, cnn_error *err)
{
    epoch_table table = {0};
    workers_set set = {.left_out = 0};
    cnn_status status = read_epochs(options, 1, plot_says(to), &table, err);
    if (status == CNN_OK) status = workers_make(&table, &set, err);
    if (status == CNN_OK && set.left_out > 0 && plot_says(to))
        table_put(stderr,
                  "benchcnn: %d curve%s left out: a speedup is over 1 thread or worker, and needs another number\n",
                  set.left_out, set.left_out == 1 ? " is" : "s are");
    if (status == CNN_OK) status = plot_crowd(to, set.curves.count, err);
    if (status == CNN_OK) status = workers_add_published(&set, err);
    if (status == CNN_OK) status = plot_draw("workers.gp", to, "", workers_picture, &set, err);
    workers_free(&set);
    epoch_table_free(&table);
    return status;
}

/* ---- Scaling over ranks */

cnn_status plot_ranks(const cli_options *options, const plot_to *to, cnn_error *err)
{
    scaling_set set = {.count = 0};
    const bool say = plot_says(to);
    cnn_status status = cli_scaling(&options->words.items[1], options->words.count - 1, say, &set, err);
    for (int i = 0; i < set.count && status == CNN_OK && say; i++)
        if (scaling_undrawn(&set.list[i]) > 0)
            table_put(stderr, "benchcnn: %s, %s: %d more than can be told apart of its batches: in the table alone\n",
                      set.list[i].setting.net, set.list[i].label, scaling_undrawn(&set.list[i]));
    if (status == CNN_OK && say) status = cli_show_scaling(&set, err);
    if (status == CNN_OK) status = plot_draw("ranks.gp", to, "", scaling_picture, &set, err);
    scaling_free(&set);
    return status;
}
