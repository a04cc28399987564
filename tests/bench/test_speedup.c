/* test_speedup.c: every speedup of the committed records, held against the records by another way: cJSON, sorted
 * samples, the smallest median of the CPU's. Then what is left out, and why. */
#include "bench/figures/speedup.h"
#include "tests/unit.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char committed[] = "results/h200/speedup.jsonl";

/* ---- The other way */

enum { LINES = 4096 };
typedef struct lines {
    cJSON *list[LINES];
    int count;
} lines;

static void load(const char *path, lines *all)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (all->count = 0; getline(&text, &size, file) > 0; all->count++) {
        assert_true(all->count < LINES);
        all->list[all->count] = cJSON_Parse(text);
        assert_non_null(all->list[all->count]);
    }
    free(text);
    fclose(file);
}

static const char *text_of(const cJSON *line, const char *field)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, field));
    return text ? text : "";
}

static double number_of(const cJSON *line, const char *field)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(line, field);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static bool is(const cJSON *line, const char *field, const char *value)
{
    return strcmp(text_of(line, field), value) == 0;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The epochs of one implementation, algorithm, place of the data and batch: their median, fastest and slowest. Six of
 * them: the 95 % interval is from the first to the last. */
typedef struct summary {
    double median, low, high;
} summary;

static summary epochs_of(const lines *all, const speedup_figure *f)
{
    double seconds[64];
    int count = 0;
    for (int i = 0; i < all->count; i++) {
        const cJSON *line = all->list[i];
        if (!is(line, "kind", "epoch") || !is(line, "impl", f->impl) || !is(line, "algorithm", f->algorithm)) continue;
        if (!is(line, "data_on", f->uploaded ? "host" : "device") || (int64_t)number_of(line, "batch") != f->batch)
            continue;
        seconds[count++] = number_of(line, "seconds");
    }
    assert_int_equal(count, 6);
    assert_int_equal(f->repetitions, 6);
    qsort(seconds, 6, sizeof *seconds, by_value);
    return (summary){(seconds[2] + seconds[3]) / 2, seconds[0], seconds[5]};
}

static summary operation_of(const lines *all, const speedup_figure *f)
{
    summary found = {NAN, NAN, NAN};
    for (int i = 0; i < all->count; i++) {
        const cJSON *line = all->list[i];
        if (!is(line, "kind", "conv") || !is(line, "impl", f->impl) || !is(line, "algorithm", f->algorithm)) continue;
        if (!is(line, "problem", f->problem) || !is(line, "dir", f->dir)) continue;
        assert_true(isnan(found.median));
        found = (summary){number_of(line, "median_s"), number_of(line, "low_s"), number_of(line, "high_s")};
    }
    return found;
}

static summary summary_of(const lines *all, const speedup_figure *f)
{
    return f->epoch ? epochs_of(all, f) : operation_of(all, f);
}

static void assert_near(double value, double expected)
{
    assert_true(isfinite(value) && fabs(value - expected) <= 1e-12 * fabs(expected));
}

/* No figure of the CPU is faster at this task. */
static void assert_fastest(const lines *all, const speedup *row)
{
    static const char *const trainers[][2] = {{"cpu", "fused"}, {"cpu", "im2col"}, {"onednn", "any"}, {NULL}};
    static const char *const kernels[][2] = {
        {"cpu", "direct"}, {"cpu", "im2col"}, {"cpu", "naive"}, {"onednn", "any"}, {NULL}};
    for (const char *const(*name)[2] = row->own->epoch ? trainers : kernels; (*name)[0]; name++) {
        speedup_figure other = *row->base;
        strcpy(other.impl, (*name)[0]);
        strcpy(other.algorithm, (*name)[1]);
        assert_true(summary_of(all, &other).median >= row->base->seconds);
    }
}

static void every_value_is_that_of_the_records(void **state)
{
    static lines all;
    cnn_error err;
    int bad, epochs = 0, uploaded = 0, operations = 0;
    speedup_set set = {.count = 0};
    const speedup_request request = {.fallback = "cpu:naive"};
    load(committed, &all);
    assert_int_equal(speedup_read(&set, committed, &bad, &err), CNN_OK);
    assert_int_equal(speedup_make(&set, &request, &err), CNN_OK);
    assert_int_equal(bad, 0);
    assert_int_equal(set.n_notes, 0);
    for (int i = 0; i < set.count; i++) {
        const speedup *row = &set.rows[i];
        const summary own = summary_of(&all, row->own), base = summary_of(&all, row->base);
        assert_true(strcmp(row->base->impl, "cpu") == 0 || strcmp(row->base->impl, "onednn") == 0);
        assert_near(row->ratio, base.median / own.median);
        assert_near(row->low, base.low / own.high);
        assert_near(row->high, base.high / own.low);
        assert_true(row->low <= row->ratio && row->ratio <= row->high);
        assert_true(row->marks == (row->own->marks | row->base->marks));
        assert_fastest(&all, row);
        assert_true(isnan(row->moved) == (row->own->epoch != NULL) && !(row->moved >= row->ratio));
        epochs += row->own->epoch != NULL;
        uploaded += row->own->uploaded;
        operations += !row->own->epoch;
    }
    assert_int_equal(epochs, 4 * 2 * 12); /* implementations, data resident or not, batches */
    assert_int_equal(uploaded, 4 * 12);
    assert_int_equal(operations, 4 * 9 * 3); /* implementations, problems, directions */
    for (int i = 0; i < all.count; i++) cJSON_Delete(all.list[i]);
    speedup_free(&set);
}

/* ---- Small files */

static char path[64];

static int make_file(void **state)
{
    strcpy(path, "/tmp/test_speedup_XXXXXX");
    const int fd = mkstemp(path);
    if (fd < 0) return -1;
    close(fd);
    return 0;
}

static int remove_file(void **state) { return unlink(path); }

static void put(const char *text)
{
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

static void put_machines(void)
{
    put("{\"kind\":\"env\",\"impl\":\"cpu\",\"cpu\":\"Some CPU\",\"cores\":2}");
    put("{\"kind\":\"env\",\"impl\":\"cudnn\",\"cpu\":\"Some CPU\",\"cores\":2,\"implementation\":{\"gpu\":\"Some "
        "GPU\"}}");
}

static void put_epoch(const char *impl, const char *algorithm, int batch, const char *dtype, const char *seconds)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"kind\":\"epoch\",\"impl\":\"%s\",\"algorithm\":\"%s\",\"threads\":2,\"knobs\":{},\"net\":\"n\","
             "\"batch\":%d,"
             "\"dtype\":\"%s\",\"math\":\"f32\",\"layout\":\"nchw\",\"train_images\":10,\"test_images\":10,\"epoch\":1,"
             "\"seconds\":%s}",
             impl, algorithm, batch, dtype, seconds);
    put(text);
}

static void put_conv(const char *machine, const char *impl, const char *problem, const char *more)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"kind\":\"conv\",\"impl\":\"%s\",\"algorithm\":\"a\",\"machine\":\"%s\",\"threads\":2,\"op\":\"conv\","
             "\"problem\":\"%s\",\"dir\":\"FWD\",\"dtype\":\"f32\",\"math\":\"f32\",\"layout\":\"nchw\",\"cache\":"
             "\"hot\",%s}",
             impl, machine, problem, more);
    put(text);
}

static cnn_status read_and_make(speedup_set *set, const speedup_request *request, cnn_error *err)
{
    int bad;
    memset(set, 0, sizeof *set);
    assert_int_equal(speedup_read(set, path, &bad, err), CNN_OK);
    return speedup_make(set, request, err);
}

/* FILE:LINE and the words in one of the notes. */
static void assert_noted(const speedup_set *set, int line, const char *words)
{
    char place[96];
    snprintf(place, sizeof place, "%s:%d: ", path, line);
    for (int i = 0; i < set->n_notes; i++)
        if (strncmp(set->notes[i], place, strlen(place)) == 0 && strstr(set->notes[i], words)) return;
    for (int i = 0; i < set->n_notes; i++) print_message("note: %s\n", set->notes[i]);
    fail_msg("no note begins with '%s' and says '%s'", place, words);
}

static const speedup_request usual = {.fallback = "cpu:naive"};

/* Several algorithms of an implementation are one figure: the fastest. */
static void each_side_is_at_its_fastest(void **state)
{
    cnn_error err;
    speedup_set set;
    put_machines();
    put_epoch("cpu", "direct", 5, "f32", "8");
    put_epoch("cpu", "im2col", 5, "f32", "6");
    put_epoch("cudnn", "find", 5, "f32", "3");
    put_epoch("cudnn", "graph:find", 5, "f32", "2");
    put_epoch("cudnn", "gemm", 5, "f32", "4");
    assert_int_equal(read_and_make(&set, &usual, &err), CNN_OK);
    assert_int_equal(set.count, 1);
    assert_string_equal(set.rows[0].base->algorithm, "im2col");
    assert_string_equal(set.rows[0].own->algorithm, "graph:find");
    assert_true(set.rows[0].ratio == 3);
    speedup_free(&set);
}

static void a_missing_baseline_and_another_type_are_said(void **state)
{
    cnn_error err;
    speedup_set set;
    put_machines();
    put_epoch("cpu", "direct", 5, "f32", "4");
    put_epoch("cudnn", "find", 5, "f32", "1");
    put_epoch("cudnn", "find", 50, "f32", "1");
    put_epoch("cudnn", "find", 5, "f64", "1");
    assert_int_equal(read_and_make(&set, &usual, &err), CNN_OK);
    assert_int_equal(set.count, 1);
    assert_true(set.rows[0].ratio == 4 && isnan(set.rows[0].low) &&
                isnan(set.rows[0].high)); /* one epoch: no interval */
    assert_noted(&set, 5, "batch 50, f32");
    assert_noted(&set, 6, "which has it in f32");
    speedup_free(&set);
}

static void times_that_are_none_are_said(void **state)
{
    cnn_error err;
    speedup_set set;
    put_machines();
    put_epoch("cpu", "direct", 5, "f32", "4");
    put_epoch("cpu", "im2col", 5, "f32", "0");
    put_epoch("cudnn", "find", 5, "f32", "-2");
    put_epoch("cudnn", "find", 5, "f32", "1e999");
    put_epoch("cudnn", "find", 5, "f32", "2");
    put_conv("Some CPU", "cpu", "p", "\"median_s\":3");
    put_conv("Some CPU", "cpu", "p", "\"median_s\":1,\"verified\":false");
    put_conv("Some GPU", "cudnn", "p", "\"median_s\":-1");
    put_conv("Some GPU", "cudnn", "p", "\"median_s\":1,\"upload_s\":1,\"download_s\":1");
    assert_int_equal(read_and_make(&set, &usual, &err), CNN_OK);
    assert_int_equal(set.count, 2);
    assert_true(set.rows[0].ratio == 2 && set.rows[1].ratio == 3 && set.rows[1].moved == 1);
    assert_noted(&set, 4, "seconds is 0");
    assert_noted(&set, 5, "seconds is -2");
    assert_noted(&set, 6, "seconds is inf");
    assert_noted(&set, 9, "not verified");
    assert_noted(&set, 10, "median_s is -1");
    speedup_free(&set);
}

/* Runs of one figure: the median of theirs, and an interval that covers that of each. */
static void runs_are_repetitions(void **state)
{
    cnn_error err;
    speedup_set set;
    put_machines();
    put_conv("Some CPU", "cpu", "p", "\"median_s\":8,\"low_s\":7,\"high_s\":9");
    put_conv("Some GPU", "cudnn", "p", "\"median_s\":2,\"low_s\":1.5,\"high_s\":2.5");
    put_conv("Some GPU", "cudnn", "p", "\"median_s\":4,\"low_s\":3.5,\"high_s\":4.5,\"marks\":\"noisy\"");
    put_conv("Some GPU", "cudnn", "p", "\"median_s\":1,\"low_s\":0.5,\"high_s\":1.5");
    assert_int_equal(read_and_make(&set, &usual, &err), CNN_OK);
    assert_int_equal(set.count, 1);
    const speedup *row = &set.rows[0];
    assert_true(row->ratio == 4 && row->low == 7 / 4.5 && row->high == 18 && row->marks == BENCH_NOISY);
    assert_true(row->own->repetitions == 3 && row->base->repetitions == 1);
    speedup_free(&set);
}

static void both_sides_are_needed(void **state)
{
    cnn_error err;
    speedup_set set;
    char place[96];
    put("{\"kind\":\"env\",\"impl\":\"cpu\",\"cpu\":\"Some CPU\"}");
    assert_int_equal(read_and_make(&set, &usual, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "no figures to compare");
    speedup_free(&set);
    put_epoch("cpu", "direct", 5, "f32", "4");
    put_epoch("cpu", "im2col", 5, "f32", "2");
    snprintf(place, sizeof place, "%s:2: ", path);
    assert_int_equal(read_and_make(&set, &usual, &err), CNN_BAD_ARGUMENT); /* nothing but a CPU's, without cpu:naive */
    assert_message(err, place);
    assert_message(err, "--baseline cpu:direct");
    speedup_free(&set);
    const speedup_request named = {.baseline = "cpu:direct"}, all = {.baseline = "cpu"}, other = {.baseline = "cudnn"};
    assert_int_equal(read_and_make(&set, &named, &err), CNN_OK);
    assert_true(set.count == 1 && set.rows[0].ratio == 2);
    assert_string_equal(set.curves[0].name, "cpu:im2col");
    speedup_free(&set);
    assert_int_equal(read_and_make(&set, &all, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "none to compare");
    speedup_free(&set);
    assert_int_equal(read_and_make(&set, &other, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "of the baseline cudnn");
    speedup_free(&set);
}

static void a_cpu_is_over_the_defining_loops(void **state)
{
    cnn_error err;
    speedup_set set;
    put_machines();
    put_conv("Some CPU", "cpu", "p", "\"median_s\":3");
    put_conv("Some CPU", "mine", "p", "\"median_s\":1.5");
    const speedup_request fallback = {.fallback = "cpu:a"};
    assert_int_equal(read_and_make(&set, &fallback, &err), CNN_OK);
    assert_true(set.count == 1 && set.rows[0].ratio == 2 && isnan(set.rows[0].moved));
    assert_string_equal(set.curves[0].name, "mine");
    speedup_free(&set);
}

static void a_gpu_alone_and_another_cpu(void **state)
{
    cnn_error err;
    speedup_set set;
    put_machines();
    put_conv("Some GPU", "cudnn", "p", "\"median_s\":1");
    assert_int_equal(read_and_make(&set, &usual, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "none of a CPU");
    speedup_free(&set);
    put_conv("Some CPU", "cpu", "p", "\"median_s\":4");
    put_conv("Another", "cpu", "p", "\"median_s\":2");
    assert_int_equal(read_and_make(&set, &usual, &err), CNN_OK);
    assert_true(set.count == 1 && set.rows[0].ratio == 4);
    assert_noted(&set, 5, "1 figure of Another left out");
    speedup_free(&set);
    const speedup_request slow = {.impl = "cpu", .baseline = "cudnn"};
    assert_int_equal(read_and_make(&set, &slow, &err), CNN_OK); /* the other way round, each machine a curve */
    assert_true(set.count == 2 && set.rows[0].ratio == 0.25 && set.rows[1].ratio == 0.5);
    speedup_free(&set);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_that_of_the_records),
        WITH_FILE(each_side_is_at_its_fastest),
        WITH_FILE(a_missing_baseline_and_another_type_are_said),
        WITH_FILE(times_that_are_none_are_said),
        WITH_FILE(runs_are_repetitions),
        WITH_FILE(both_sides_are_needed),
        WITH_FILE(a_cpu_is_over_the_defining_loops),
        WITH_FILE(a_gpu_alone_and_another_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
