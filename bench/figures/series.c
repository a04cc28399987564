/* series.c: grouping epoch records into curves and naming them. */
#include "series.h"
#include "harness/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of one curve differ in the batch alone. Seeds are let differ: the time does not depend on them; builds, too: of
 * each point only the latest's is there. */
bool series_same_curve(const epoch_setting *a, const epoch_setting *b)
{
    epoch_setting other = *b;
    other.batch = a->batch;
    other.seed = a->seed;
    return epoch_same_setting(a, &other) || epoch_other_build(a, &other);
}

static bool same_epoch(const epoch_setting *a, const epoch_setting *b)
{
    return strcmp(a->net, b->net) == 0 && strcmp(a->net_crc, b->net_crc) == 0 && a->net_params == b->net_params &&
           a->train_images == b->train_images && a->test_images == b->test_images;
}

series *series_add(series_set *set, cnn_error *err)
{
    enum { ROOM = SERIES_MAX + SERIES_PUBLISHED_MAX };
    if (!set->list) set->list = calloc(ROOM, sizeof *set->list);
    if (!set->list)
        CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d curves", SERIES_MAX);
    else if (set->count == SERIES_MAX)
        CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d curves: draw fewer files, or name fewer with --impl", SERIES_MAX);
    else
        return &set->list[set->count++];
    return NULL;
}

static series *find_series(series_set *set, const epoch_setting *setting, cnn_error *err)
{
    for (int i = 0; i < set->count; i++)
        if (series_same_curve(&set->list[i].setting, setting)) return &set->list[i];
    series *s = series_add(set, err);
    if (s) s->setting = *setting;
    return s;
}

static int by_batch(const void *a, const void *b)
{
    const series_point *p = a, *q = b;
    return (p->batch > q->batch) - (p->batch < q->batch);
}

/* The medians over everything that was run at this batch, whatever the seed. */
static void add_point(series *s, const epoch_table *table, const epoch_setting *setting)
{
    epoch_sum sum = {.count = 0}, rates = {.count = 0};
    bench_stats stats, rate = {.median = NAN};
    const epoch_row *first = NULL;
    for (int i = 0; i < s->count; i++)
        if (s->points[i].batch == (double)setting->batch) return;
    if (s->count == SERIES_POINTS_MAX) return;
    for (int i = 0; i < table->count; i++) {
        const epoch_row *row = &table->rows[i];
        if (row->setting.batch != setting->batch || !series_same_curve(&row->setting, setting) ||
            epoch_diverged(table, &row->setting))
            continue;
        if (!first) first = row;
        epoch_sum_add(&sum, row->seconds, row->marks);
        if (isfinite(row->images_per_s)) epoch_sum_add(&rates, row->images_per_s, 0);
    }
    epoch_sum_stats(&sum, &stats);
    if (rates.count > 0) epoch_sum_stats(&rates, &rate);
    s->points[s->count++] = (series_point){.batch = (double)setting->batch,
                                           .seconds = stats.median,
                                           .low = sum.count > 1 ? stats.low : NAN,
                                           .high = sum.count > 1 ? stats.high : NAN,
                                           .images_per_s = rate.median,
                                           .epochs = sum.count,
                                           .marks = stats.marks,
                                           .path = first->path,
                                           .line = first->line};
}

/* ---- Names: what all share goes into the subtitle, what differs into the facts of each. ---- */

void series_machine(const char *name, char *text, size_t size)
{
    static const char *const added[] = {"(R)", "(TM)", " Processor", " CPU"};
    snprintf(text, size, "%s", name);
    for (size_t i = 0; i < sizeof added / sizeof added[0]; i++)
        for (char *at; (at = strstr(text, added[i])) != NULL;)
            memmove(at, at + strlen(added[i]), strlen(at + strlen(added[i])) + 1);
}

/* Those from SELDOM on are said only where they differ: they matter little to the time, and headings are short. Those
 * from OF_GPUS on tell of GPUs. */
enum { FACTS = 11, SELDOM = 4, OF_GPUS = 8 };
/* All facts are made at once, since a legend asks for those that differ between curves, whichever they are. */
static void describe(const epoch_setting *s, int fact, char text[SERIES_LABEL_MAX])
{
    const bool gpu = s->gpu[0] != '\0', strict = strcmp(s->math, "f32") == 0, uploads = strcmp(s->data_on, "host") == 0;
    char machine[CNN_NAME_MAX], threads[80] = "", type[32], steps[40] = "", shift[32] = "", data[CNN_NAME_MAX + 64],
                                knobs[512];
    char rate[CNN_PROBLEM_TEXT_MAX + RATE_SCHEDULE_TEXT + 2];
    size_t used = 0;
    series_machine(gpu ? s->gpu : s->cpu, machine, sizeof machine); /* what did the work */
    if (s->ranks > 1) cnn_append(threads, sizeof threads, "%lld ranks%s", (long long)s->ranks, gpu ? "" : " of ");
    if (!gpu && s->threads > 0)
        cnn_append(threads, sizeof threads, "%lld thread%s", (long long)s->threads, s->threads == 1 ? "" : "s");
    if (s->bucket > 0) cnn_append(threads, sizeof threads, ", buckets of %lld bytes", (long long)s->bucket);
    snprintf(type, sizeof type, "%s%s%s", s->dtype, strict ? "" : "/", strict ? "" : s->math);
    if (s->shift > 0) snprintf(shift, sizeof shift, " shift %lld", (long long)s->shift);
    snprintf(data, sizeof data, "%s%s%s%s", s->data, shift, s->preprocess[0] != '\0' ? ", preprocessing " : "",
             s->preprocess);
    for (const char *c = s->knobs; *c && s->knobs[0] != '?'; c++) /* "tile=16,isa=1" from {"tile":16,"isa":1} */
        if (!strchr("{}\"", *c)) knobs[used++] = (char)(*c == ':' ? '=' : *c);
    knobs[used] = '\0';
    static const char *const words[] = {"fused", "recompute", "offload", "2 streams"};
    const bool said[] = {s->fused > 0, s->recompute, s->offload, s->streams > 1};
    for (int i = 0; i < 4; i++)
        if (said[i]) cnn_append(steps, sizeof steps, "%s%s", steps[0] != '\0' ? ", " : "", words[i]);
    snprintf(rate, sizeof rate, "%s%s%s", s->optimizer, s->schedule[0] ? " " : "", s->schedule);
    const char *const facts[FACTS] = {machine,
                                      threads,
                                      type,
                                      data,
                                      s->layout,
                                      rate,
                                      knobs,
                                      steps,
                                      s->graph ? "graph" : "",
                                      uploads ? "transfers counted" : "data resident",
                                      gpu ? s->cpu : ""};
    snprintf(text, SERIES_LABEL_MAX, "%.*s", SERIES_LABEL_MAX - 1, facts[fact]);
}

/* A fact of GPUs among their curves alone: a CPU's beside them is no reason to say it. */
static bool differs(const series_set *set, int fact)
{
    char first[SERIES_LABEL_MAX], other[SERIES_LABEL_MAX];
    bool any = false;
    for (int i = 0; i < set->count; i++) {
        if (fact >= OF_GPUS && set->list[i].setting.gpu[0] == '\0') continue;
        describe(&set->list[i].setting, fact, any ? other : first);
        if (any && strcmp(first, other) != 0) return true;
        any = true;
    }
    return false;
}

void series_name(series_set *set)
{
    char text[SERIES_LABEL_MAX];
    for (int i = 0; i < set->count; i++) {
        const epoch_setting *s = &set->list[i].setting;
        snprintf(set->list[i].label, SERIES_LABEL_MAX, "%s%s%s", s->impl, s->algorithm[0] ? ":" : "", s->algorithm);
    }
    for (int f = 0; f < FACTS; f++) {
        const bool varies = differs(set, f);
        if (!varies && f >= SELDOM) continue;
        for (int i = 0; i < (varies ? set->count : 1); i++) {
            char *facts = varies ? set->list[i].facts : set->subtitle;
            describe(&set->list[i].setting, f, text);
            if (text[0]) cnn_append(facts, SERIES_LABEL_MAX, "%s%s", facts[0] ? ", " : "", text);
        }
    }
}

static cnn_status make(const epoch_table *table, series_set *set, cnn_error *err)
{
    for (int i = 0; i < table->count; i++) {
        const epoch_setting *setting = &table->rows[i].setting;
        const bool other = !same_epoch(&table->rows[0].setting, setting);
        const bool diverged = !other && epoch_diverged(table, setting);
        set->left_out += other;
        set->diverged += diverged;
        if (other || diverged) continue;
        series *s = find_series(set, setting, err);
        if (!s) return err->status;
        add_point(s, table, setting);
    }
    if (set->count == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "no epoch to draw: in each the loss is not finite, the training diverged");
    for (int i = 0; i < set->count; i++)
        qsort(set->list[i].points, (size_t)set->list[i].count, sizeof(series_point), by_batch);
    series_name(set);
    return CNN_OK;
}

cnn_status series_make(const epoch_table *table, series_set *set, cnn_error *err)
{
    memset(set, 0, sizeof *set);
    if (table->count == 0) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "no epoch records to draw");
    const cnn_status status = make(table, set, err);
    if (status != CNN_OK) series_free(set);
    return status;
}

void series_free(series_set *set)
{
    free(set->list);
    memset(set, 0, sizeof *set);
}
