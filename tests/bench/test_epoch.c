/* test_epoch.c: epoch records: what was written is found again, and nothing else is taken for it. */
#include "epoch_unit.h"

static void epochs_are_found_again(void **state)
{
    static const double times[] = {2.0, 9.0, 3.0};
    bench_fixture f;
    epoch_row rows[3];
    epoch_table table = {0};
    double seconds;
    set_up(&f);
    for (int e = 0; e < 3; e++) rows[e] = make_row(&f.session, 100, e + 1, times[e]);
    through_a_file(&f.session, rows, 3, &table);
    assert_int_equal(table.count, 3);
    assert_true(isnan(table.rows[0].train_loss));

    epoch_row same = make_row(&f.session, 100, 1, 1), other = make_row(&f.session, 200, 1, 1);
    assert_int_equal(epoch_median(&table, &same.setting, &seconds, NULL), 3);
    assert_true(seconds == 3.0);
    assert_true(epoch_finished(&table, &same.setting, 3));
    assert_false(epoch_finished(&table, &same.setting, 4));
    assert_false(epoch_finished(&table, &other.setting, 1));
    strcpy(same.setting.knobs, "{\"isa\":1}");
    assert_false(epoch_finished(&table, &same.setting, 1));
    same = make_row(&f.session, 100, 1, 1);
    strcpy(same.setting.net_crc, "0badcafe"); /* another network of that name */
    assert_false(epoch_finished(&table, &same.setting, 1));
    same = make_row(&f.session, 100, 1, 1);
    strcpy(same.setting.cpu, "another machine");
    assert_false(epoch_finished(&table, &same.setting, 1));
    epoch_table_free(&table);
    tear_down(&f);
}

/* Two settings that differ at the end of more text than a row keeps are two, on paper, too. */
static void long_knobs_are_told_apart(void **state)
{
    enum { KNOBS = 12 };
    char names[KNOBS][80];
    int64_t values[2][KNOBS];
    cnn_knob knobs[KNOBS];
    cnn_impl long_winded = fake;
    bench_fixture f;
    epoch_table table = {0};
    epoch_row rows[2];
    set_up(&f);
    for (int i = 0; i < KNOBS; i++) {
        snprintf(names[i], sizeof names[i], "knob_%070d", i);
        knobs[i] = (cnn_knob){names[i], "", 0, 9, 0, NULL, 0, false};
        values[0][i] = values[1][i] = 1;
    }
    values[1][KNOBS - 1] = 2;
    long_winded.knobs = knobs;
    long_winded.n_knobs = KNOBS;
    cnn_session session = f.session;
    session.impl = &long_winded;
    for (int k = 1; k >= 0; k--) {
        session.knobs = values[k];
        rows[k] = make_row(&session, 100, 1, 1);
    }
    through_a_file(&session, rows, 1, &table);
    assert_int_equal(table.count, 1);
    assert_true(epoch_finished(&table, &rows[0].setting, 1));
    assert_false(epoch_finished(&table, &rows[1].setting, 1));
    epoch_table_free(&table);
    tear_down(&f);
}

/* What a killed sweep left of a point does not mix with the point's new run; a finished run's epochs do count. */
static void a_run_begun_anew_counts_anew(void **state)
{
    static const struct {
        int64_t batch, epoch, epochs;
        double seconds;
    } rows[] = {{50, 1, 2, 4},  {50, 2, 2, 2},  {100, 1, 3, 9}, {50, 1, 1, 3},
                {100, 2, 3, 9}, {100, 1, 3, 1}, {100, 2, 3, 1}, {100, 3, 3, 1}};
    bench_fixture f;
    cnn_error err;
    epoch_table table = {0};
    double seconds;
    unsigned marks;
    set_up(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        epoch_row row = make_row(&f.session, rows[i].batch, rows[i].epoch, rows[i].seconds);
        row.epochs = rows[i].epochs;
        row.marks = i == 3 ? BENCH_DISTURBED : 0;
        assert_int_equal(epoch_table_add(&table, &row, &err), CNN_OK);
    }
    const epoch_row fifty = make_row(&f.session, 50, 1, 1), hundred = make_row(&f.session, 100, 1, 1);
    assert_int_equal(epoch_median(&table, &hundred.setting, &seconds, &marks), 3);
    assert_true(seconds == 1.0 && marks == 0);
    assert_int_equal(epoch_median(&table, &fifty.setting, &seconds, &marks), 3);
    assert_true(seconds == 3.0 && marks == BENCH_SPREAD); /* one disturbed epoch of three is no disturbed median */
    epoch_row again = make_row(&f.session, 50, 1, 3);
    again.marks = BENCH_DISTURBED;
    assert_int_equal(epoch_table_add(&table, &again, &err), CNN_OK);
    assert_int_equal(epoch_median(&table, &fifty.setting, &seconds, &marks), 4);
    assert_int_equal(marks & BENCH_DISTURBED, BENCH_DISTURBED);
    epoch_table_free(&table);
    tear_down(&f);
}

/* Two builds have no median: the latest one's epochs count, and only they are done. */
static void another_build_is_another_figure(void **state)
{
    bench_fixture f;
    epoch_row rows[5];
    epoch_table table = {0};
    double seconds;
    set_up(&f);
    for (int i = 0; i < 5; i++) {
        rows[i] = make_row(&f.session, i == 4 ? 200 : 100, 1, 1.0 + i);
        strcpy(rows[i].setting.build, i < 2 ? "" : "0a1b2c3d");
    }
    strcpy(rows[3].setting.libraries, "0badcafe");
    through_a_file(&f.session, rows, 5, &table);
    assert_int_equal(table.count, 2);
    assert_int_equal(table.superseded, 3);
    assert_int_equal(epoch_median(&table, &rows[3].setting, &seconds, NULL), 1);
    assert_true(seconds == 4.0);
    assert_true(epoch_finished(&table, &rows[3].setting, 1));
    assert_false(epoch_measured_elsewhere(&table, &rows[3].setting));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(epoch_median(&table, &rows[i].setting, &seconds, NULL), 0);
        assert_false(epoch_finished(&table, &rows[i].setting, 1));
        assert_true(epoch_measured_elsewhere(&table, &rows[i].setting));
    }
    assert_true(epoch_finished(&table, &rows[4].setting, 1));
    epoch_table_free(&table);
    tear_down(&f);
}

/* The lines of a file, each without ,"FIELD":VALUE of a number: as older records are. */
static void leave_out(const char *path, const char *field)
{
    char lines[4][8192], mark[64];
    int count = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    snprintf(mark, sizeof mark, ",\"%s\":", field);
    while (count < 4 && fgets(lines[count], sizeof lines[count], file) != NULL) count++;
    fclose(file);
    file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < count; i++) {
        char *at = strstr(lines[i], mark);
        assert_true((at != NULL) == (strstr(lines[i], "\"kind\":\"epoch\"") != NULL));
        if (at != NULL) memmove(at, at + strlen(mark) + strspn(at + strlen(mark), "-0123456789"), strlen(at) + 1);
        fputs(lines[i], file);
    }
    fclose(file);
}

/* Two shifts are two settings, in a file and beside it; a record that does not say is of images as they are. */
static void shifts_are_told_apart(void **state)
{
    static const int64_t shifts[] = {2, 0, 3};
    bench_fixture f;
    epoch_row rows[3];
    epoch_table table = {0};
    double seconds;
    set_up(&f);
    for (int i = 0; i < 3; i++) {
        rows[i] = make_row(&f.session, 100, 1, 1.0 + i);
        rows[i].setting.shift = shifts[i];
    }
    through_a_file(&f.session, rows, 2, &table);
    assert_int_equal(table.count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(table.rows[i].setting.shift, shifts[i]);
        assert_int_equal(epoch_median(&table, &rows[i].setting, &seconds, NULL), 1);
        assert_true(seconds == rows[i].seconds);
        assert_true(epoch_finished(&table, &rows[i].setting, 1));
    }
    assert_false(epoch_same_setting(&rows[0].setting, &rows[1].setting));
    assert_false(epoch_finished(&table, &rows[2].setting, 1));
    assert_false(epoch_measured_elsewhere(&table, &rows[2].setting)); /* another build is no reason */
    epoch_table_free(&table);
    tear_down(&f);
}

static void a_record_without_a_shift_has_none(void **state)
{
    char path[] = "/tmp/test_epoch_XXXXXX";
    const int fd = mkstemp(path);
    bench_fixture f;
    cnn_error err;
    record_sink *sink;
    epoch_table table = {0};
    int bad;
    assert_true(fd >= 0);
    close(fd);
    set_up(&f);
    epoch_row row = make_row(&f.session, 100, 1, 2.0), moved = row;
    row.setting.shift = 0;
    moved.setting.shift = 2;
    assert_int_equal(record_sink_open(path, NULL, &sink, &err), CNN_OK);
    assert_int_equal(record_environment(sink, &f.session, "test", &err), CNN_OK);
    assert_int_equal(record_write(sink, epoch_record(&f.session, &moved), &err), CNN_OK);
    record_sink_close(sink);
    leave_out(path, "shift");
    assert_int_equal(epoch_table_read(&table, path, &bad, &err), CNN_OK);
    unlink(path);
    assert_true(bad == 0 && table.count == 1);
    assert_int_equal(table.rows[0].setting.shift, 0);
    assert_true(epoch_finished(&table, &row.setting, 1));
    assert_false(epoch_finished(&table, &moved.setting, 1));
    epoch_table_free(&table);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epochs_are_found_again),       cmocka_unit_test(long_knobs_are_told_apart),
        cmocka_unit_test(a_run_begun_anew_counts_anew), cmocka_unit_test(another_build_is_another_figure),
        cmocka_unit_test(shifts_are_told_apart),        cmocka_unit_test(a_record_without_a_shift_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
