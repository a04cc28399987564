/* test_scaling.c: the model of scaling over ranks, and what records of epochs come to, on numbers that are known. */
#include "tests/unit.h"

#include "bench/figures/scaling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void assert_close(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-8 * fabs(expected))) fail_msg("%.12g is not %.12g", got, expected);
}

static scaling_model model_of(int64_t measured_ranks, double alpha_s, double bytes_per_s, double bytes)
{
    static scaling_link link;
    scaling_model m = {.bytes = bytes, .train_images = 1000};
    link = (scaling_link){.ranks = measured_ranks, .alpha_s = alpha_s, .bytes_per_s = bytes_per_s};
    scaling_model_link(&m, &link);
    return m;
}

static void test_sums(void **state)
{
    const scaling_model large = model_of(2, 10e-6, 1e9, 1e6), small = model_of(2, 10e-6, 1e9, 1e3);
    (void)state;
    assert_true(scaling_sum_s(&large, 1) >= 0 && scaling_sum_s(&large, 1) <= 0);
    assert_close(scaling_sum_s(&large, 2), 1.010e-3); /* as it was measured */
    assert_close(scaling_sum_s(&small, 2), 11e-6);
    assert_close(scaling_sum_s(&large, 4), 6 * 5e-6 + 1.5 * 1e-3); /* a ring */
    assert_close(scaling_sum_s(&small, 4), 4 * (5e-6 + 1e-6));     /* a tree */
    assert_close(scaling_sum_s(&small, 5), 6 * (5e-6 + 1e-6));     /* three levels */
    assert_close(scaling_sum_s(&small, 1024), 20 * (5e-6 + 1e-6)); /* ten */
    assert_close(scaling_sum_s(&large, 100), 2 * 99 * 5e-6 + 2 * 99 / 100.0 * 1e-3);
    /* Over eight: a tree of three levels, up and down; 7/8 of the array in and out of each. */
    const scaling_model eight = model_of(8, 60e-6, 1e9, 1e9);
    assert_close(eight.hop_s, 10e-6);
    assert_close(eight.bytes_per_s, 1.75e9);
    assert_close(scaling_sum_s(&eight, 8), 14 * 10e-6 + 1.0);
    const scaling_model none = model_of(2, -1e-6, 1e9, 1e3); /* a line through noise */
    assert_close(scaling_sum_s(&none, 2), 1e-6);
}

/* 1 ms a step and 10 µs an image: 20, 15 and 12.5 ms an epoch of 1000 images. */
static void add_line(scaling_model *m)
{
    scaling_model_add(m, 400, 12.5e-3);
    scaling_model_add(m, 100, 20e-3);
    scaling_model_add(m, 200, 15e-3);
    scaling_model_fit(m);
}

static void test_computing(void **state)
{
    scaling_model line = model_of(2, 10e-6, 1e9, 1e3), bent = line, one = line, flat = line, none = line;
    (void)state;
    add_line(&line);
    assert_close(line.fixed_s, 1e-3);
    assert_close(line.image_s, 10e-6);
    assert_true(line.off < 1e-9);
    const double steps[][2] = {{1, 1.01e-3}, {50, 1.5e-3}, {100, 2e-3}, {300, 4e-3}, {400, 5e-3}, {800, 9e-3}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        assert_close(scaling_compute_s(&line, steps[i][0]), steps[i][1]);
    assert_true(scaling_measured(&line, 100) && scaling_measured(&line, 400) && !scaling_measured(&line, 99));

    scaling_model_add(&bent, 100, 20e-3); /* steps of 2, 4 and 5 ms: straight lines between them */
    scaling_model_add(&bent, 200, 20e-3);
    scaling_model_add(&bent, 400, 12.5e-3);
    scaling_model_fit(&bent);
    assert_close(scaling_compute_s(&bent, 150), 3e-3);
    assert_close(scaling_compute_s(&bent, 300), 4.5e-3);
    assert_true(bent.off > 0.05);

    scaling_model_add(&one, 100, 20e-3);
    scaling_model_fit(&one);
    assert_close(scaling_compute_s(&one, 100), 2e-3);
    assert_true(isnan(scaling_compute_s(&one, 50)) && isnan(scaling_compute_s(&one, 200)));
    assert_true(isnan(scaling_compute_s(&none, 100)));

    scaling_model_add(&flat, 100, 20e-3); /* 2 and 6 ms: a line that is below nothing at no image */
    scaling_model_add(&flat, 200, 30e-3);
    scaling_model_fit(&flat);
    assert_true(flat.fixed_s >= 0 && flat.fixed_s <= 0);
    assert_close(scaling_compute_s(&flat, 50), 1e-3);
}

static void test_epochs(void **state)
{
    scaling_model m = model_of(2, 100e-6, 1e15, 8); /* 50 µs a message, and next to nothing a byte */
    double least_s;
    (void)state;
    add_line(&m);
    assert_close(scaling_epoch_s(&m, 1, 200), 15e-3);
    assert_true(fabs(scaling_epoch_s(&m, 2, 200) - 5 * (2e-3 + 100e-6)) < 1e-9);
    assert_true(fabs(scaling_epoch_s(&m, 4, 300) - (1000 / 300.0 * 1.75e-3 + 4 * 200e-6)) < 1e-9); /* 4 sums */
    assert_true(isnan(scaling_epoch_s(&m, 201, 200)) && isnan(scaling_epoch_s(&m, 2, 1001)));
    /* 1 + 4/n + levels/10 ms a step of 400: 1.65 on 16, 1.625 on 32, 1.6625 on 64. */
    assert_int_equal(scaling_least(&m, 400, &least_s), 32);
    assert_true(fabs(least_s - 2.5 * 1.125e-3 - 3 * 500e-6) < 1e-9);
    snprintf(m.why_not, sizeof m.why_not, "x");
    assert_true(isnan(scaling_epoch_s(&m, 2, 200)));
    assert_int_equal(scaling_least(&m, 400, &least_s), 0);
}

/* ---- Records. */

static void put_epoch(FILE *file, const char *net, int batch, int over, int threads, double seconds)
{
    fprintf(file,
            "{\"kind\":\"epoch\",\"impl\":\"%s\",\"algorithm\":\"direct\",\"net\":\"%s\",\"data\":\"d\",\"dtype\":"
            "\"f32\",\"layout\":\"nchw\",\"knobs\":{},\"train_images\":1000,\"batch\":%d,\"threads\":%d,\"epoch\":1,"
            "\"seconds\":%.9g,\"train_s\":%.9g",
            net[0] == 'g' ? "cuda" : "cpu", net, batch, threads, seconds, seconds / 2);
    if (over > 1)
        fprintf(file,
                ",\"ranks\":%d,\"comm_way\":\"MPI\",\"comm_bytes\":1000000,\"comm_step_s\":%.9g,\"comm_alone_s\":1e-6",
                over, seconds / 100);
    fprintf(file, "}\n");
}

static void put_line(FILE *file, int over, const char *way, const char *device, double alpha_s)
{
    fprintf(file,
            "{\"kind\":\"all_reduce_line\",\"ranks\":%d,\"comm_way\":\"%s\",\"rank_devices\":{\"0\":\"host: %s\"},"
            "\"alpha_s\":%.9g,\"beta_bytes_per_s\":1e9,\"off\":0.1}\n",
            over, way, device, alpha_s);
}

static void read_records(void put(FILE *), scaling_set *set)
{
    char path[] = "/tmp/benchcnn-scaling-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fprintf(file, "{\"kind\":\"env\",\"impl\":\"cpu\",\"cpu\":\"A CPU\",\"date\":\"2026-02-03T04:05:06Z\"}\n");
    fprintf(file, "{\"kind\":\"env\",\"impl\":\"cuda\",\"cpu\":\"A CPU\",\"implementation\":{\"gpu\":\"A GPU\"}}\n");
    put(file);
    fclose(file);
    epoch_table table = {.count = 0};
    cnn_error err = {.message = ""};
    int bad = 0;
    if (scaling_read(set, &table, path, &bad, &err) != CNN_OK || scaling_make(&table, set, &err) != CNN_OK)
        fail_msg("%s", err.message);
    assert_int_equal(bad, 0);
    epoch_table_free(&table);
    unlink(path);
}

static void put_all(FILE *file)
{
    const double medians[] = {20e-3, 21e-3, 15e-3};
    for (int i = 0; i < 3; i++) put_epoch(file, "a", 100, 1, 1, medians[i]);
    put_epoch(file, "a", 200, 1, 1, 15e-3);
    put_epoch(file, "a", 400, 1, 1, 12.5e-3);
    put_epoch(file, "a", 200, 2, 1, 12e-3);
    put_epoch(file, "a", 400, 4, 1, 10e-3);
    put_epoch(file, "a", 200, 1, 2, 9e-3); /* more threads: another curve, which has no ranks */
    put_epoch(file, "b", 100, 1, 4, 8e-3); /* four threads in all */
    put_epoch(file, "b", 100, 2, 2, 10e-3);
    put_epoch(file, "g", 100, 1, 32, 10e-3); /* GPUs: threads are of no account */
    put_epoch(file, "g", 100, 2, 16, 8e-3);
    put_epoch(file, "c", 100, 2, 1, 10e-3); /* nothing to compare it with */
    put_line(file, 2, "MPI", "A CPU", 1.0); /* the latest counts */
    put_line(file, 2, "MPI", "A CPU", 10e-6);
    put_line(file, 4, "MPI, by way of host memory", "A CPU", 1.0);
    put_line(file, 8, "MPI", "another", 1.0);
}

static void test_records(void **state)
{
    scaling_set set = {.count = 0};
    (void)state;
    read_records(put_all, &set);
    assert_int_equal(set.count, 4);
    assert_string_equal(set.first_date, "2026-02-03");
    const scaling_curve *c = &set.list[0];
    assert_string_equal(c->setting.net, "a");
    assert_int_equal(c->count, 5);
    const scaling_point *p = scaling_point_at(c, 100, 1);
    assert_true(p != NULL && p->epochs == 3 && isnan(p->share) && isnan(p->model_s));
    assert_close(p->seconds, 20e-3);
    assert_close(p->strong, 1);
    p = scaling_point_at(c, 200, 2);
    assert_non_null(p);
    assert_close(p->strong, 15 / 12.0);
    assert_close(p->weak, 20 / 12.0);
    assert_close(p->efficiency, 15 / 24.0);
    assert_close(p->share, 5 * 120e-6 / 6e-3); /* five steps, in half of the epoch */
    assert_close(p->model_s, 5 * 2e-3 + 5 * 1.010e-3);
    assert_close(p->model_off, 15.05 / 12.0 - 1);
    p = scaling_point_at(c, 400, 4);
    assert_close(p->efficiency, 12.5 / 10.0 / 4);
    assert_close(p->model_s, 2.5 * 2e-3 + 3 * (6 * 5e-6 + 1.5e-3));
    assert_int_equal(c->model.link->ranks, 2);

    c = &set.list[1]; /* ranks share the threads that one had: the same machine, and no model */
    p = scaling_point_at(c, 100, 2);
    assert_close(p->strong, 0.8);
    assert_close(p->efficiency, 0.8);
    assert_true(isnan(p->model_s) && strstr(c->model.why_not, "--threads") != NULL);

    assert_string_equal(set.list[2].setting.net, "g");
    assert_close(scaling_point_at(&set.list[2], 100, 2)->efficiency, 10 / 8.0 / 2);

    c = &set.list[3];
    p = scaling_point_at(c, 100, 2);
    assert_true(isnan(p->strong) && isnan(p->weak) && isnan(p->efficiency) && c->model.why_not[0] != '\0');

    char text[8192] = "";
    scaling_model_text(&set.list[0], text, sizeof text);
    assert_non_null(strstr(text, "as measured from batch 100 to 400; beyond them extrapolated"));
    assert_non_null(strstr(text, "10.0 µs an image"));
    assert_non_null(strstr(text, "batch 400: the least epoch on "));
    cnn_record *record = scaling_record(&set.list[0], scaling_point_at(&set.list[0], 200, 2));
    assert_close(record_get_real(record, "weak"), 20 / 12.0);
    assert_close(record_get_real(record, "model_s"), 5 * 2e-3 + 5 * 1.010e-3);
    record_free(record);
    scaling_free(&set);
}

static void put_one_rank(FILE *file)
{
    put_epoch(file, "a", 100, 1, 1, 1e-3);
    put_epoch(file, "a", 100, 2, 1, 1e-3);
}

/* What is missing is said. */
static void test_missing(void **state)
{
    scaling_set set = {.count = 0};
    epoch_table table = {.count = 0};
    cnn_error err = {.message = ""};
    (void)state;
    assert_int_equal(scaling_make(&table, &set, &err), CNN_BAD_ARGUMENT);
    assert_non_null(strstr(err.message, "sweep ranks=1,2"));
    scaling_free(&set);
    read_records(put_one_rank, &set);
    assert_non_null(strstr(set.list[0].model.why_not, "benchcnn peaks --impl cpu"));
    scaling_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),    cmocka_unit_test(test_computing), cmocka_unit_test(test_epochs),
        cmocka_unit_test(test_records), cmocka_unit_test(test_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
