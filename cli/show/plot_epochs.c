/* plot_epochs.c: `benchcnn plot FILE.jsonl...`: seconds per epoch over batch size. */
#include "cli/table.h"
#include "plot_batch.h"

#include <stdlib.h>
#include <string.h>

static cnn_status read_records(const cli_options *options, epoch_table *table, cnn_error *err)
{
    for (int i = 0; i < options->words.count; i++) {
        int bad;
        cnn_status status = epoch_table_read(table, options->words.items[i], &bad, err);
        if (status != CNN_OK) return status;
        cli_say_bad_lines(options->words.items[i], bad);
    }
    if (table->superseded > 0)
        fprintf(stderr, "left out: %d epoch record%s of points that another build has measured since\n",
                table->superseded, table->superseded == 1 ? "" : "s");
    if (table->count > 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s holds no epoch records: `benchcnn sweep batch --out FILE` writes them",
                    options->words.count == 1 ? options->words.items[0] : "none of the files");
}

static const series_point *fastest(const series *s)
{
    const series_point *best = &s->points[0];
    for (int i = 1; i < s->count; i++)
        if (s->points[i].seconds < best->seconds) best = &s->points[i];
    return best;
}

static void add_curves(const series_set *set, batch_picture *p)
{
    for (int i = 0; i < set->count; i++) {
        const series *s = &set->list[i];
        const series_point *best = fastest(s);
        batch_curve *c = &p->curves[p->ours++];
        *c = (batch_curve){.points = s->points, .count = s->count, .tone = i};
        snprintf(c->name, sizeof c->name, "%s", s->label);
        if (s->facts[0] != '\0')
            snprintf(c->note, sizeof c->note, "%s: %.3g s at %.0f", s->facts, best->seconds, best->batch);
        else
            snprintf(c->note, sizeof c->note, "fastest: %.3g s, at batch %.0f", best->seconds, best->batch);
    }
}

static void add_thesis(const thesis_table *thesis, batch_picture *p)
{
    static const char *const names[THESIS_SERIES][2] = {{"ConvNetGo, published (CPU)", "2 × Xeon E5-2680 v2, 20 cores"},
                                                        {"GoCuNets, published (GPU)", "GTX 1080 Ti"}};
    for (int k = 0; k < THESIS_SERIES && thesis->count > 0; k++) {
        batch_curve *c = &p->curves[p->count++];
        *c = (batch_curve){.points = thesis->points[k], .count = thesis->count, .dash = k + 1};
        snprintf(c->name, sizeof c->name, "%s", names[k][0]);
        snprintf(c->note, sizeof c->note, "%s", names[k][1]);
    }
}

static cnn_status draw(const cli_options *options, const series_set *set, batch_picture *p, cnn_error *err)
{
    char train[32], test[32], name[PATH_SIZE - 64];
    const epoch_setting *s = &set->list[0].setting;
    thesis_table thesis;
    cnn_status status = plot_thesis(s, &thesis, err);
    if (status != CNN_OK) return status;
    p->unit = "s";
    snprintf(p->title, sizeof p->title, "Seconds per epoch over batch size");
    snprintf(p->lines[0], sizeof p->lines[0], "network %s, an epoch trains on %s images and tests on %s", s->net,
             plot_grouped(s->train_images, train), plot_grouped(s->test_images, test));
    snprintf(p->lines[1], sizeof p->lines[1], "%s%s", set->subtitle,
             thesis.count > 0 ? ";  grey: as published in 2020, on other hardware" : "");
    add_curves(set, p);
    p->count = p->ours;
    add_thesis(&thesis, p);
    plot_name(options, options->words.items[0], name, sizeof name);
    return plot_batch(p, name, err);
}

cnn_status plot_epochs(const cli_options *options, cnn_error *err)
{
    epoch_table table = {0};
    series_set set = {0};
    batch_picture *p = calloc(1, sizeof *p); /* large: kept off the stack */
    cnn_status status =
        p ? read_records(options, &table, err) : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plot");
    if (status == CNN_OK) status = series_make(&table, &set, err);
    if (status == CNN_OK && set.left_out > 0)
        table_put(stderr, "benchcnn: drawing network %s with %lld + %lld images; %d records of others are left out\n",
                  set.list[0].setting.net, (long long)set.list[0].setting.train_images,
                  (long long)set.list[0].setting.test_images, set.left_out);
    if (status == CNN_OK && set.diverged > 0)
        fprintf(stderr, "benchcnn: %d epoch%s left out: the training diverged, its loss is not finite\n", set.diverged,
                set.diverged == 1 ? " is" : "s are");
    if (status == CNN_OK) status = draw(options, &set, p, err);
    free(p);
    series_free(&set);
    epoch_table_free(&table);
    return status;
}
