/* test_series.c: from epochs to curves: which belong to one, its points, its name. */
#include "bench/figures/series.h"
#include "epoch_unit.h"

/* Its time is no figure: not recorded, not drawn, and yet the point is done. */
static void a_diverged_training_has_no_figure(void **state)
{
    const trainer_result result = {.seconds = 2, .train_s = 1, .test_s = 1, .train_loss = NAN, .test_loss = 1};
    const clock_report clocks = {.wall_s = 1, .busy_s = 1.5, .own_s = 1, .processors = 2};
    bench_fixture f;
    cnn_error err;
    epoch_table table = {0};
    series_set set;
    double seconds;
    set_up(&f);
    const epoch_row like = make_row(&f.session, 50, 1, 1);
    const epoch_row row = epoch_row_of(&like.setting, 1, 1, &result, NULL, &clocks);
    through_a_file(&f.session, &row, 1, &table);
    assert_int_equal(table.count, 1);
    assert_true(isnan(table.rows[0].seconds) && table.rows[0].diverged);
    assert_int_equal(table.rows[0].marks, BENCH_DISTURBED);
    assert_int_equal(epoch_median(&table, &like.setting, &seconds, NULL), 0);
    assert_true(epoch_finished(&table, &like.setting, 1));
    assert_int_equal(series_make(&table, &set, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "diverged");
    const epoch_row other = make_row(&f.session, 100, 1, 1);
    assert_int_equal(epoch_table_add(&table, &other, &err), CNN_OK);
    assert_int_equal(series_make(&table, &set, &err), CNN_OK);
    assert_true(set.count == 1 && set.list[0].count == 1 && set.diverged == 1);
    series_free(&set);
    epoch_table_free(&table);
    tear_down(&f);
}

/* However large a finite one may be: 14 is what guessing among a million classes costs. */
static void a_loss_beyond_all_guessing_has_diverged(void **state)
{
    static const double losses[] = {0, 14, 9999, 1e4, 10001, 1e30};
    const clock_report clocks = {.wall_s = 1};
    const epoch_setting setting = {.impl = "cpu"};
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        const trainer_result train = {.seconds = 2, .train_loss = losses[i], .test_loss = 1};
        const trainer_result test = {.seconds = 2, .train_loss = 1, .test_loss = losses[i]};
        assert_true(epoch_row_of(&setting, 1, 1, &train, NULL, &clocks).diverged == (losses[i] > 1e4));
        assert_true(epoch_row_of(&setting, 1, 1, &test, NULL, &clocks).diverged == (losses[i] > 1e4));
    }
}

static void curves_are_sorted_and_named(void **state)
{
    bench_fixture f;
    cnn_error err;
    epoch_table table = {0};
    series_set set;
    set_up(&f);
    assert_int_equal(series_make(&table, &set, &err), CNN_BAD_ARGUMENT);
    for (int i = 0; i < 6; i++) {
        epoch_row row = make_row(&f.session, i % 3 == 0 ? 200 : i % 3 == 1 ? 5 : 50, 1, 1.0 + i);
        row.setting.threads = i < 3 ? 1 : 2;
        strcpy(row.setting.build, i % 3 == 0 ? "0a1b2c3d" : "4e5f6a7b"); /* some points by another build: one curve */
        assert_int_equal(epoch_table_add(&table, &row, &err), CNN_OK);
    }
    epoch_row row = make_row(&f.session, 200, 1, 9); /* another seed, the same point: the median of 1 s and 9 s */
    row.setting.threads = 1;
    row.setting.seed = 2;
    strcpy(row.setting.build, "0a1b2c3d");
    assert_int_equal(epoch_table_add(&table, &row, &err), CNN_OK);
    row = make_row(&f.session, 5, 1, 1);
    row.setting.train_images = 100; /* not the same epoch */
    assert_int_equal(epoch_table_add(&table, &row, &err), CNN_OK);
    assert_int_equal(series_make(&table, &set, &err), CNN_OK);
    assert_int_equal(set.count, 2);
    assert_int_equal(set.left_out, 1);
    assert_int_equal(set.list[0].count, 3);
    assert_true(set.list[0].points[0].batch == 5 && set.list[0].points[2].batch == 200);
    assert_true(set.list[0].points[2].epochs == 2 && fabs(set.list[0].points[2].seconds - 5) < 1e-12);
    assert_string_equal(set.list[0].label, "fake:direct");
    assert_string_equal(set.list[0].facts, "1 thread");
    assert_string_equal(set.list[1].facts, "2 threads");
    series_free(&set);
    epoch_table_free(&table);
    tear_down(&f);
}

/* Images that are moved, and those that are not: two curves, each of which says which it is. */
static void shifts_are_two_curves(void **state)
{
    bench_fixture f;
    cnn_error err;
    epoch_table table = {0};
    series_set set;
    set_up(&f);
    for (int i = 0; i < 4; i++) {
        epoch_row row = make_row(&f.session, i < 2 ? 50 : 100, 1, 1.0 + i);
        row.setting.shift = i % 2 == 0 ? 0 : 2;
        assert_int_equal(epoch_table_add(&table, &row, &err), CNN_OK);
    }
    assert_int_equal(series_make(&table, &set, &err), CNN_OK);
    assert_int_equal(set.count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(set.list[i].count, 2);
        assert_true(set.list[i].points[0].epochs == 1 && set.list[i].points[0].seconds == 1.0 + i);
    }
    assert_non_null(strstr(set.list[1].facts, "shift 2"));
    assert_null(strstr(set.list[0].facts, "shift 2"));
    series_free(&set);
    epoch_table_free(&table);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_diverged_training_has_no_figure),
        cmocka_unit_test(a_loss_beyond_all_guessing_has_diverged),
        cmocka_unit_test(curves_are_sorted_and_named),
        cmocka_unit_test(shifts_are_two_curves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
