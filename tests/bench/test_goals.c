/* test_goals.c: goals of trainings: what is known of a point, what replaces what, and curves of medians. */
#include "tests/unit.h"

#include "bench/figures/goals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static goal_row row_of(int64_t batch, int64_t seed, double goal, goal_outcome outcome, int64_t epochs, double seconds)
{
    goal_row row = {.goal = goal, .outcome = outcome, .epochs = epochs, .seconds = seconds};
    epoch_setting *s = &row.setting;
    snprintf(s->impl, sizeof s->impl, "cpu");
    snprintf(s->algorithm, sizeof s->algorithm, "fused");
    snprintf(s->net, sizeof s->net, "thesis");
    snprintf(s->build, sizeof s->build, "one");
    s->batch = batch;
    s->seed = seed;
    s->train_images = 60000;
    s->test_images = 10000;
    return row;
}

static void add(goal_table *table, goal_row row)
{
    cnn_error err = {.message = ""};
    if (goal_table_add(table, &row, &err) != CNN_OK) fail_msg("%s", err.message);
}

static void test_what_is_known(void **state)
{
    goal_table table = {.count = 0};
    const goal_row reached = row_of(100, 1, 0.1, GOAL_REACHED, 5, 3.0);
    add(&table, reached);
    add(&table, row_of(100, 1, 0.05, GOAL_NOT_REACHED, 40, 20.0));
    add(&table, row_of(100, 1, 0.04, GOAL_DIVERGED, 2, NAN));
    assert_non_null(goal_find(&table, &reached.setting, GOAL_LOSS, 0.1, 5));
    assert_null(
        goal_find(&table, &reached.setting, GOAL_LOSS, 0.1, 4)); /* a training of 4 epochs would not have reached it */
    assert_null(goal_find(&table, &reached.setting, GOAL_LOSS, 0.2, 40));
    assert_non_null(goal_find(&table, &reached.setting, GOAL_LOSS, 0.05, 40));
    assert_null(goal_find(&table, &reached.setting, GOAL_LOSS, 0.05, 41)); /* it may yet */
    assert_non_null(goal_find(&table, &reached.setting, GOAL_LOSS, 0.04, 1000));
    const goal_row other = row_of(100, 2, 0.1, GOAL_REACHED, 5, 3.0);
    assert_null(goal_find(&table, &other.setting, GOAL_LOSS, 0.1, 5));

    add(&table, row_of(100, 1, 0.1, GOAL_REACHED, 6, 4.0)); /* the latest */
    assert_int_equal(table.count, 3);
    assert_int_equal(goal_find(&table, &reached.setting, GOAL_LOSS, 0.1, 6)->epochs, 6);
    goal_row newer = row_of(100, 1, 0.1, GOAL_REACHED, 7, 4.0);
    snprintf(newer.setting.build, sizeof newer.setting.build, "two");
    add(&table, newer);
    assert_int_equal(table.count, 1);
    goal_table_free(&table);
}

static void test_record(void **state)
{
    static const char *const lines[] = {
        "{\"kind\":\"goal\",\"goal\":0.1,\"outcome\":\"reached\",\"epochs\":5,\"seconds\":3.5,\"train_s\":3,"
        "\"test_loss\":0.09,\"test_accuracy\":0.97,\"marks\":\"disturbed\"}",
        "{\"kind\":\"epoch\",\"goal\":0.1,\"outcome\":\"reached\",\"epochs\":5}",
        "{\"kind\":\"goal\",\"goal\":0.1,\"outcome\":\"perhaps\",\"epochs\":5}",
        "{\"kind\":\"goal\",\"goal\":0.1,\"outcome\":\"reached\",\"epochs\":0}",
        "{\"kind\":\"goal\",\"outcome\":\"reached\",\"epochs\":5}",
        "{\"kind\":\"goal\",\"goal\":0.1,\"epochs\":5}",
    };
    char path[] = "/tmp/benchcnn-goals-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) fprintf(file, "%s\n", lines[i]);
    fclose(file);
    goal_table goals = {.count = 0};
    epoch_table table = {.goals = &goals};
    cnn_error err = {.message = ""};
    int bad = 0;
    if (epoch_table_read(&table, path, &bad, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_int_equal(bad, 0);
    assert_int_equal(goals.count, 1);
    const goal_row *row = &goals.rows[0];
    assert_true(row->goal == 0.1 && row->outcome == GOAL_REACHED && row->epochs == 5 && row->seconds == 3.5);
    assert_true(row->train_s == 3.0 && row->loss == 0.09 && row->accuracy == 0.97);
    assert_true(row->marks == bench_marks_of("disturbed") && row->marks != 0);
    goal_table_free(&goals);
    epoch_table_free(&table);
    unlink(path);
}

static void test_curves(void **state)
{
    goal_table table = {.count = 0};
    goals_set set = {.count = 0};
    cnn_error err = {.message = ""};
    add(&table, row_of(500, 1, 0.1, GOAL_REACHED, 10, 5.0));
    add(&table, row_of(100, 1, 0.1, GOAL_REACHED, 5, 3.0));
    add(&table, row_of(100, 2, 0.1, GOAL_REACHED, 7, 9.0));
    add(&table, row_of(100, 3, 0.1, GOAL_REACHED, 6, 4.0));
    add(&table, row_of(100, 1, 0.05, GOAL_NOT_REACHED, 40, 20.0));
    add(&table, row_of(20, 1, 0.1, GOAL_REACHED, 3, NAN));
    goal_row other = row_of(100, 1, 0.1, GOAL_REACHED, 5, 3.0);
    snprintf(other.setting.net, sizeof other.setting.net, "small");
    add(&table, other);
    if (goals_make(&table, &set, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_int_equal(set.count, 2);
    assert_int_equal(set.left_out, 1);
    const goals_curve *c = &set.list[0];
    assert_int_equal(c->count, 3);
    assert_true(c->points[0].batch == 20 && c->points[0].epochs == 3 && isnan(c->points[0].seconds));
    assert_true(c->points[1].batch == 100 && c->points[1].epochs == 6 && c->points[1].seconds == 4.0); /* medians */
    assert_true(c->points[2].batch == 500 && c->points[2].epochs == 10 && c->points[2].tried == 0);
    assert_true(set.list[1].goal == 0.05 && set.list[1].points[0].epochs == 0 && set.list[1].points[0].tried == 40);

    if (goals_add_thesis(&set, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_true(set.published && set.count == 3);
    c = &set.list[2];
    assert_int_equal(c->count, 12);
    assert_true(c->points[11].batch == 5000 && c->points[11].epochs == 122 && c->points[11].seconds == 46.36);
    goals_free(&set);
    table.rows[0].setting.train_images = 6000; /* the first one's job: not that of the table */
    assert_int_equal(goals_make(&table, &set, &err), CNN_OK);
    assert_int_equal(goals_add_thesis(&set, &err), CNN_OK);
    assert_true(!set.published && set.count == 1);
    goals_free(&set);
    goal_table_free(&table);
}

/* 4, 6 and 8 epochs, 1, 2 and 3 s: a mean of 6, and 2; t of two degrees of freedom is 4.3027. */
static void test_means_of_accuracies(void **state)
{
    goal_table table = {.count = 0};
    goals_set set = {.count = 0};
    cnn_error err = {.message = ""};
    assert_true(goal_met(GOAL_ACCURACY, 0.99, 9, 9900 / 10000.0) && !goal_met(GOAL_ACCURACY, 0.99, 0, 0.9899));
    assert_true(goal_met(GOAL_LOSS, 0.1, 0.09, 0) && !goal_met(GOAL_LOSS, 0.1, 0.1, 1));
    for (int seed = 1; seed <= 4; seed++) {
        goal_row row = row_of(100, seed, 0.99, seed == 4 ? GOAL_NOT_REACHED : GOAL_REACHED, 2 + 2 * seed, seed);
        row.of = GOAL_ACCURACY;
        row.train_s = seed == 1 ? 0.5 : NAN;
        add(&table, row);
    }
    add(&table, row_of(100, 1, 0.99, GOAL_REACHED, 1, 9.0)); /* a loss */
    assert_int_equal(table.count, 5);
    assert_int_equal(goal_find(&table, &table.rows[0].setting, GOAL_ACCURACY, 0.99, 9)->epochs, 4);
    assert_int_equal(goal_find(&table, &table.rows[0].setting, GOAL_LOSS, 0.99, 9)->epochs, 1);
    if (goals_make(&table, &set, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_int_equal(set.count, 2);
    assert_true(set.list[0].of == GOAL_ACCURACY && set.list[1].of == GOAL_LOSS);
    const goals_point *p = &set.list[0].points[0];
    assert_true(p->trained == 4 && p->reached == 3 && p->tried == 10 && p->epochs == 6);
    assert_true(fabs(p->mean_epochs.mean - 6) < 1e-9 && fabs(p->mean_epochs.high - 6 - 4.3027 * 2 / sqrt(3)) < 1e-3);
    assert_true(fabs(p->mean_seconds.mean - 2) < 1e-9 && fabs(p->mean_seconds.low - 2 + 4.3027 / sqrt(3)) < 1e-3);
    assert_true(p->mean_train_s.mean == 0.5 && isnan(p->mean_train_s.low));
    assert_true(set.list[1].points[0].trained == 1 && isnan(set.list[1].points[0].mean_epochs.low));
    goals_free(&set);
    table.count = 4; /* accuracies alone: table 4.3 is of losses */
    assert_int_equal(goals_make(&table, &set, &err), CNN_OK);
    assert_int_equal(goals_add_thesis(&set, &err), CNN_OK);
    assert_false(set.published);
    goals_free(&set);
    goal_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_known),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_curves),
        cmocka_unit_test(test_means_of_accuracies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
