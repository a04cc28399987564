/* series.c: grouping epoch records into curves and naming them. */
#include "series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of one curve differ in the batch alone. Seeds are let differ: the time does not depend on them; builds, too: of
 * each point only the latest's is there. */
static bool same_curve(const epoch_setting *a, const epoch_setting *b)
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

static series *find_series(series_set *set, const epoch_setting *setting)
{
    for (int i = 0; i < set->count; i++)
        if (same_curve(&set->list[i].setting, setting)) return &set->list[i];
    if (set->count == SERIES_MAX) return NULL;
    series *s = &set->list[set->count++];
    memset(s, 0, sizeof *s);
    s->setting = *setting;
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
        if (row->setting.batch != setting->batch || !same_curve(&row->setting, setting) ||
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

typedef void describe_fn(const epoch_setting *setting, char *text, size_t size);

static void describe_type(const epoch_setting *s, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s", s->dtype, strcmp(s->math, "f32") == 0 ? "" : "/",
             strcmp(s->math, "f32") == 0 ? "" : s->math);
}

static void describe_layout(const epoch_setting *s, char *text, size_t size) { snprintf(text, size, "%s", s->layout); }
static void describe_optimizer(const epoch_setting *s, char *text, size_t size)
{
    snprintf(text, size, "%s", s->optimizer);
}
static void describe_data(const epoch_setting *s, char *text, size_t size)
{
    if (s->shift > 0)
        snprintf(text, size, "%s shift %lld", s->data, (long long)s->shift);
    else
        snprintf(text, size, "%s", s->data);
}

void series_machine(const char *name, char *text, size_t size)
{
    static const char *const added[] = {"(R)", "(TM)", " Processor", " CPU"};
    snprintf(text, size, "%s", name);
    for (size_t i = 0; i < sizeof added / sizeof added[0]; i++)
        for (char *at; (at = strstr(text, added[i])) != NULL;)
            memmove(at, at + strlen(added[i]), strlen(at + strlen(added[i])) + 1);
}

/* What did the work. */
static void describe_machine(const epoch_setting *s, char *text, size_t size)
{
    series_machine(s->gpu[0] ? s->gpu : s->cpu, text, size);
}

static void describe_host(const epoch_setting *s, char *text, size_t size)
{
    snprintf(text, size, "%s", s->gpu[0] ? s->cpu : "");
}

static void describe_threads(const epoch_setting *s, char *text, size_t size)
{
    text[0] = '\0';
    if (s->gpu[0]) return;
    snprintf(text, size, "%lld thread%s", (long long)s->threads, s->threads == 1 ? "" : "s");
}

static void describe_knobs(const epoch_setting *s, char *text, size_t size)
{
    bool none = strcmp(s->knobs, "{}") == 0 || strcmp(s->knobs, "?") == 0;
    size_t used = 0;
    text[0] = '\0';
    for (const char *c = s->knobs; !none && *c && used + 1 < size; c++)
        if (!strchr("{}\"", *c)) text[used++] = (char)(*c == ':' ? '=' : *c), text[used] = '\0';
}

static void describe_steps(const epoch_setting *s, char *text, size_t size)
{
    snprintf(text, size, "%s", s->graph ? "graph" : "");
}

static void describe_transfers(const epoch_setting *s, char *text, size_t size)
{
    snprintf(text, size, "%s", strcmp(s->data_on, "host") == 0 ? "transfers counted" : "data resident");
}

/* Among the curves of GPUs alone where the fact is one of theirs: a CPU's beside them is no reason to say it. */
static bool differs(const series_set *set, describe_fn *describe, bool of_gpus)
{
    char first[SERIES_LABEL_MAX], other[SERIES_LABEL_MAX];
    bool any = false;
    for (int i = 0; i < set->count; i++) {
        if (of_gpus && set->list[i].setting.gpu[0] == '\0') continue;
        describe(&set->list[i].setting, any ? other : first, SERIES_LABEL_MAX);
        if (any && strcmp(first, other) != 0) return true;
        any = true;
    }
    return false;
}

static void append(char *text, const char *separator, const char *more)
{
    size_t used = strlen(text);
    if (more[0] != '\0') snprintf(text + used, SERIES_LABEL_MAX - used, "%s%s", used ? separator : "", more);
}

void series_name(series_set *set)
{
    /* The last six are said only where they differ: they matter little to the time, and headings are short. */
    static describe_fn *const facts[] = {describe_machine,   describe_threads,   describe_type,  describe_data,
                                         describe_layout,    describe_optimizer, describe_knobs, describe_steps,
                                         describe_transfers, describe_host};
    enum { FACTS = sizeof facts / sizeof facts[0], SAID = 4, OF_GPUS = 7 };
    char text[SERIES_LABEL_MAX];
    for (int i = 0; i < set->count; i++) {
        const epoch_setting *s = &set->list[i].setting;
        snprintf(set->list[i].label, SERIES_LABEL_MAX, "%s%s%s", s->impl, s->algorithm[0] ? ":" : "", s->algorithm);
    }
    for (int f = 0; f < FACTS; f++) {
        bool varies = differs(set, facts[f], f >= OF_GPUS);
        if (!varies && f >= SAID) continue;
        for (int i = 0; i < (varies ? set->count : 1); i++) {
            facts[f](&set->list[i].setting, text, sizeof text);
            append(varies ? set->list[i].facts : set->subtitle, ", ", text);
        }
    }
}

cnn_status series_make(const epoch_table *table, series_set *set, cnn_error *err)
{
    memset(set, 0, sizeof *set);
    if (table->count == 0) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "no epoch records to draw");
    set->list = calloc(SERIES_MAX, sizeof *set->list);
    if (!set->list) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d series", SERIES_MAX);
    for (int i = 0; i < table->count; i++) {
        const epoch_setting *setting = &table->rows[i].setting;
        if (!same_epoch(&table->rows[0].setting, setting)) {
            set->left_out++;
            continue;
        }
        if (epoch_diverged(table, setting)) {
            set->diverged++;
            continue;
        }
        series *s = find_series(set, setting);
        if (!s) {
            series_free(set);
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d curves in these records: draw fewer files",
                            SERIES_MAX);
        }
        add_point(s, table, setting);
    }
    if (set->count == 0) {
        series_free(set);
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "no epoch to draw: in each the loss is not finite, the training diverged");
    }
    for (int i = 0; i < set->count; i++)
        qsort(set->list[i].points, (size_t)set->list[i].count, sizeof(series_point), by_batch);
    series_name(set);
    return CNN_OK;
}

void series_free(series_set *set)
{
    free(set->list);
    memset(set, 0, sizeof *set);
}

/* In their order from below; neighbours that are too close share the move that parts them. */
void series_spread(double *places, int count, double gap, double low, double high)
{
    int order[SERIES_MAX + 2];
    if (count > SERIES_MAX + 2) count = SERIES_MAX + 2;
    for (int i = 0; i < count; i++) {
        int j = i;
        for (; j > 0 && places[order[j - 1]] > places[i]; j--) order[j] = order[j - 1];
        order[j] = i;
    }
    for (int pass = 0; pass < 200; pass++) {
        bool moved = false;
        for (int i = 0; i + 1 < count; i++) {
            double *below = &places[order[i]], *above = &places[order[i + 1]];
            double missing = gap - (*above - *below);
            if (missing <= gap * 1e-3) continue;
            *below -= missing / 2;
            *above += missing / 2;
            moved = true;
        }
        if (!moved) break;
    }
    for (int i = 0; i < count; i++) places[order[i]] = fmax(places[order[i]], low + i * gap);
    for (int i = count - 1; i >= 0; i--) places[order[i]] = fmin(places[order[i]], high - (count - 1 - i) * gap);
}
