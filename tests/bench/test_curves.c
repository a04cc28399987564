/* test_curves.c: from epochs to learning curves: which belong to one run, how long it had trained, its name. */
#include "bench/figures/curves.h"
#include "epoch_unit.h"

static epoch_row epoch_of(const bench_fixture *f, int64_t batch, int64_t seed, int64_t epoch, double train_s)
{
    epoch_row row = make_row(&f->session, batch, epoch, 2 * train_s);
    row.setting.seed = seed;
    row.epochs = 2;
    row.train_s = train_s;
    row.train_loss = row.test_loss = 1.0 / (double)epoch;
    row.test_accuracy = 0.5;
    return row;
}

static void put(epoch_table *table, const epoch_row *row)
{
    cnn_error err;
    assert_int_equal(epoch_table_add(table, row, &err), CNN_OK);
}

static void epochs_that_follow_are_a_run(void **state)
{
    /* Two runs that were recorded by turns; the first once more; a third that begins behind a checkpoint. */
    static const struct {
        int64_t batch, seed, epoch;
        double train_s, sum;
        int run;
    } rows[] = {{50, 1, 1, 1, 1, 0},    {50, 2, 1, 2, 2, 1},   {50, 1, 2, 4, 5, 0},
                {50, 2, 2, 8, 10, 1},   {50, 1, 1, 16, 16, 2}, {50, 1, 2, 32, 48, 2},
                {200, 1, 5, 64, 64, 3}, {200, 1, 6, 1, 65, 3}, {200, 1, 8, 1, 1, 4}};
    bench_fixture f;
    cnn_error err = {.message = ""};
    epoch_table table = {0};
    curves_set set = {.count = 0};
    set_up(&f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const epoch_row row = epoch_of(&f, rows[i].batch, rows[i].seed, rows[i].epoch, rows[i].train_s);
        put(&table, &row);
    }
    if (curves_make(&table, &set, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_int_equal(set.runs.count, 5);
    assert_int_equal(set.count, 9);
    for (int i = 0; i < set.count; i++) {
        assert_int_equal(set.points[i].run, rows[i].run);
        assert_true(fabs(set.points[i].trained_s - rows[i].sum) < 1e-12);
    }
    assert_string_equal(set.runs.list[1].label, "fake:direct");
    assert_string_equal(set.runs.list[1].facts, "batch 50, seed 2");
    assert_string_equal(set.runs.list[3].facts, "batch 200, seed 1");
    assert_non_null(strstr(set.network, "network thesis, 60000 images to train on, 10000 to test on"));
    curves_free(&set);
    epoch_table_free(&table);
    tear_down(&f);
}

/* What all runs share is said once; another network is a fact of its run. */
static void facts_that_differ_name_a_run(void **state)
{
    bench_fixture f;
    cnn_error err = {.message = ""};
    epoch_table table = {0};
    curves_set set = {.count = 0};
    set_up(&f);
    epoch_row row = epoch_of(&f, 50, 1, 1, 1);
    put(&table, &row);
    strcpy(row.setting.schedule, "cosine,epochs=2");
    put(&table, &row);
    strcpy(row.setting.net, "small");
    strcpy(row.setting.weights, "0a1b2c3d");
    put(&table, &row);
    if (curves_make(&table, &set, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_int_equal(set.runs.count, 3);
    assert_string_equal(set.network, "");
    assert_non_null(strstr(set.runs.subtitle, "batch 50"));
    assert_non_null(strstr(set.runs.list[0].facts, "adam,l1=1e-05, network thesis"));
    assert_non_null(strstr(set.runs.list[1].facts, "adam,l1=1e-05 cosine,epochs=2, network thesis"));
    assert_non_null(strstr(set.runs.list[2].facts, "from weights 0a1b2c3d, network small"));
    curves_free(&set);
    epoch_table_free(&table);
    tear_down(&f);
}

/* The first epoch that comes so near to the last one's accuracy, even where a later one falls behind again. */
static void goals_are_shares_of_the_last_accuracy(void **state)
{
    static const double accuracies[] = {0.50, 0.73, 0.77, 0.70, 0.80};
    static const struct {
        double share;
        int64_t epoch;
    } goals[] = {{0.5, 1}, {0.9, 2}, {0.95, 3}, {0.99, 5}, {1.0, 5}};
    bench_fixture f;
    cnn_error err = {.message = ""};
    epoch_table table = {0};
    curves_set set = {.count = 0};
    set_up(&f);
    for (int i = 0; i < 5; i++) {
        epoch_row row = epoch_of(&f, 50, 1, i + 1, 2);
        row.test_accuracy = accuracies[i];
        put(&table, &row);
    }
    if (curves_make(&table, &set, &err) != CNN_OK) fail_msg("%s", err.message);
    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; i++) {
        const curves_point *at = curves_goal(&set, 0, goals[i].share);
        assert_int_equal(at->row->epoch, goals[i].epoch);
        assert_true(fabs(at->trained_s - 2.0 * (double)goals[i].epoch) < 1e-12);
    }
    curves_free(&set);
    epoch_table_free(&table);
    tear_down(&f);
}

static void what_has_no_loss_is_left_out(void **state)
{
    bench_fixture f;
    cnn_error err = {.message = ""};
    epoch_table table = {0};
    curves_set set = {.count = 0};
    set_up(&f);
    epoch_row row = epoch_of(&f, 50, 1, 1, 1);
    row.test_loss = NAN;
    row.diverged = true;
    put(&table, &row);
    assert_int_equal(curves_make(&table, &set, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "no epoch to draw: of 1 records");
    curves_free(&set);
    row = epoch_of(&f, 100, 1, 1, 1);
    row.train_s = NAN; /* an older record: all of the epoch stands in for it */
    put(&table, &row);
    assert_int_equal(curves_make(&table, &set, &err), CNN_OK);
    assert_true(set.diverged == 1 && set.count == 1 && fabs(set.points[0].trained_s - 2) < 1e-12);
    curves_free(&set);
    for (int64_t seed = 2; seed <= SERIES_MAX + 1; seed++) {
        row = epoch_of(&f, 100, seed, 1, 1);
        put(&table, &row);
    }
    assert_int_equal(curves_make(&table, &set, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "more than 32 curves");
    curves_free(&set);
    epoch_table_free(&table);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epochs_that_follow_are_a_run), cmocka_unit_test(facts_that_differ_name_a_run),
        cmocka_unit_test(goals_are_shares_of_the_last_accuracy), cmocka_unit_test(what_has_no_loss_is_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
