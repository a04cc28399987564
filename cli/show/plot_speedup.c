/* plot_speedup.c: `benchcnn plot speedup FILE.jsonl...`: speedups over a baseline: of epochs over batch size, of single
 * operations as bars (plot_problems.c). */
#include "plot_batch.h"
#include "plot_problems.h"
#include "speedups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The curves of epochs as series: that names them, and what their settings share. */
static cnn_status make_series(const speedup_set *speedups, series_set *set, bool *with_gpu, cnn_error *err)
{
    int made[SERIES_MAX]; /* the curve of each series */
    *set = (series_set){.list = calloc(SERIES_MAX, sizeof *set->list)};
    *with_gpu = false;
    if (!set->list) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d curves", SERIES_MAX);
    for (int i = 0; i < speedups->count; i++) {
        const speedup *row = &speedups->rows[i];
        if (!row->own->epoch) continue;
        if (set->count == 0 || made[set->count - 1] != row->curve) {
            if (set->count == SERIES_MAX)
                return CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d curves: name fewer with --impl", SERIES_MAX);
            made[set->count] = row->curve;
            series *s = &set->list[set->count++];
            s->setting = *row->own->epoch;
            s->setting.graph = false; /* each point has its own, with its algorithm and its knobs */
            snprintf(s->setting.knobs, sizeof s->setting.knobs, "{}");
            if (!strchr(speedups->curves[row->curve].name, ':')) s->setting.algorithm[0] = '\0';
            *with_gpu = *with_gpu || (row->own->gpu && !row->base->gpu);
        }
        series *s = &set->list[set->count - 1];
        if (s->count == SERIES_POINTS_MAX) continue;
        s->points[s->count++] = (series_point){.batch = (double)row->own->batch,
                                               .seconds = row->ratio,
                                               .low = row->low,
                                               .high = row->high,
                                               .marks = row->marks};
    }
    series_name(set);
    return CNN_OK;
}

/* Curves of one implementation share a colour: with data resident the line is whole, with transfers counted dashed. */
static int tone_of(const series_set *set, int index)
{
    int tone = 0;
    for (int i = 0; i < index; i++) {
        if (strcmp(set->list[i].label, set->list[index].label) == 0) return tone_of(set, i);
        bool known = false;
        for (int k = 0; k < i; k++) known = known || strcmp(set->list[k].label, set->list[i].label) == 0;
        tone += !known;
    }
    return tone;
}

static void add_curves(const series_set *set, batch_picture *p)
{
    for (int i = 0; i < set->count; i++) {
        const series *s = &set->list[i];
        const series_point *best = &s->points[0];
        for (int k = 1; k < s->count; k++)
            if (s->points[k].seconds > best->seconds) best = &s->points[k];
        batch_curve *c = &p->curves[p->ours++];
        *c = (batch_curve){.points = s->points, .count = s->count, .tone = tone_of(set, i)};
        c->dash = strcmp(s->setting.data_on, "host") == 0;
        snprintf(c->name, sizeof c->name, "%s", s->label);
        if (s->facts[0] != '\0')
            snprintf(c->note, sizeof c->note, "%s: %.3g × at %.0f", s->facts, best->seconds, best->batch);
        else
            snprintf(c->note, sizeof c->note, "up to %.3g ×, at batch %.0f", best->seconds, best->batch);
    }
}

/* GoCuNets over ConvNetGo, from the published times. */
static void add_thesis(thesis_table *thesis, batch_picture *p)
{
    if (thesis->count == 0) return;
    for (int k = 0; k < thesis->count; k++) thesis->points[0][k].seconds /= thesis->points[1][k].seconds;
    batch_curve *c = &p->curves[p->count++];
    *c = (batch_curve){.points = thesis->points[0], .count = thesis->count, .dash = 2};
    snprintf(c->name, sizeof c->name, "thesis, published times");
    snprintf(c->note, sizeof c->note, "GTX 1080 Ti over 2 × Xeon, 20 cores");
}

static cnn_status draw_epochs(const speedup_set *speedups, const char *name, batch_picture *p, cnn_error *err)
{
    char train[32], test[32], baseline[SERIES_LABEL_MAX];
    series_set set;
    thesis_table thesis = {.count = 0};
    bool with_gpu;
    cnn_status status = make_series(speedups, &set, &with_gpu, err);
    if (status == CNN_OK && with_gpu) status = plot_thesis(&set.list[0].setting, &thesis, err);
    if (status != CNN_OK) goto cleanup;
    const epoch_setting *s = &set.list[0].setting;
    p->unit = "×";
    p->break_even = true;
    speedup_baseline_text(speedups, true, baseline, sizeof baseline);
    snprintf(p->title, sizeof p->title, "Speedup over batch size");
    snprintf(p->lines[0], sizeof p->lines[0], "network %s, an epoch trains on %s images and tests on %s; %s", s->net,
             plot_grouped(s->train_images, train), plot_grouped(s->test_images, test), set.subtitle);
    snprintf(p->lines[1], sizeof p->lines[1], "over %s", baseline);
    snprintf(p->lines[2], sizeof p->lines[2], "bars: what the intervals of both medians allow%s",
             thesis.count > 0 ? ";  grey: as published in 2020, on other hardware" : "");
    add_curves(&set, p);
    p->count = p->ours;
    add_thesis(&thesis, p);
    status = plot_batch(p, name, err);
cleanup:
    series_free(&set);
    return status;
}

cnn_status plot_speedup(const cli_options *options, cnn_error *err)
{
    char name[PATH_SIZE - 64], problems[PATH_SIZE - 48];
    speedup_set set = {.count = 0};
    batch_picture *p = calloc(1, sizeof *p); /* large: kept off the stack */
    cnn_status status =
        p ? cli_speedups(options, 1, &set, err) : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plot");
    plot_name(options, options->words.items[1], name, sizeof name);
    const bool both = speedup_has(&set, true) && speedup_has(&set, false);
    snprintf(problems, sizeof problems, "%s%s", name, both ? "_problems" : "");
    if (status == CNN_OK && speedup_has(&set, true)) status = draw_epochs(&set, name, p, err);
    if (status == CNN_OK && speedup_has(&set, false)) status = plot_problems(&set, problems, err);
    speedup_free(&set);
    free(p);
    return status;
}
