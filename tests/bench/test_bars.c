/* test_bars.c: times of single operations as groups of bars: what is drawn, medians, published factors, refusals. */
#include "tests/unit.h"

#include "bench/figures/bars.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bars_set set; /* large: kept off the stack */

static void line(FILE *file, const char *impl, const char *algorithm, const char *problem, const char *dir,
                 const char *seconds, const char *more)
{
    fprintf(
        file,
        "{\"kind\":\"conv\",\"impl\":\"%s\",\"algorithm\":\"%s\",\"knobs\":{},\"machine\":\"a\",\"op\":\"conv\","
        "\"problem\":\"%s\",\"dir\":\"%s\",\"dtype\":\"f32\",\"math\":\"f32\",\"layout\":\"nchw\",\"cache\":\"hot\","
        "\"median_s\":%s%s}\n",
        impl, algorithm, problem, dir, seconds, more);
}

static void read_into(const char *path, const char *impl, const char *dir, cnn_status want, cnn_error *err)
{
    int bad = 0;
    set = (bars_set){.impl = impl, .dir = dir};
    cnn_status status = bars_read(&set, path, &bad, err);
    if (status == CNN_OK) status = bars_make(&set, err);
    if (status != want) fail_msg("status %d: %s", (int)status, err->message);
}

static FILE *begin(char path[32])
{
    strcpy(path, "/tmp/benchcnn-bars-XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    return fdopen(fd, "w");
}

static void test_groups(void **state)
{
    static const char awnn[] = "mb16ic4ih32oc16oh32kh3ph1n\\\"awnn_16x16\\\"";
    char path[32];
    cnn_error err = {.message = ""};
    FILE *file = begin(path);
    line(file, "cudnn", "implicit_precomp_gemm", awnn, "FWD", "8e-6", ",\"plan_s\":2e-4,\"launch_s\":1e-5");
    line(file, "cudnn", "fft", awnn, "FWD", "1e-5", "");
    line(file, "cudnn", "fft", awnn, "FWD", "3e-5", "");
    line(file, "cudnn", "fft", awnn, "FWD", "2e-5", ",\"marks\":\"noisy\"");
    line(file, "cudnn", "fft", "mb1ic4ih32oc16oh32kh3ph1", "FWD", "4e-6", "");
    line(file, "cudnn", "fft", awnn, "BWD_D", "5e-6", "");
    line(file, "cudnn", "direct", awnn, "FWD", "null", ",\"state\":\"UNSUPPORTED\"");
    line(file, "cpu", "direct", awnn, "FWD", "1e-3", "");
    fputs(
        "{\"kind\":\"conv\",\"impl\":\"cpu\",\"algorithm\":\"direct\",\"machine\":\"b\",\"op\":\"conv\",\"problem\":"
        "\"x\","
        "\"dir\":\"FWD\",\"median_s\":1}\n{\"kind\":\"sweep\",\"impl\":\"cpu\",\"median_s\":1}\n{\"kind\":\"conv\"}\n",
        file);
    fclose(file);

    read_into(path, NULL, NULL, CNN_OK, &err);
    assert_int_equal(set.n_curves, 3);
    assert_int_equal(set.n_groups, 3);
    assert_int_equal(set.left_out, 1);
    assert_string_equal(set.curves[1], "cudnn:fft");
    assert_string_equal(set.groups[0].name, "awnn_16x16");
    const bars_cell *gemm = &set.cells[0][0], *fft = &set.cells[0][1];
    assert_true(fft->seconds == 2e-5 && fft->count == 3 && fft->marks != 0);
    assert_true(gemm->plan_s == 2e-4 && gemm->launch_s == 1e-5 && isnan(fft->plan_s) && bars_have_plans(&set));
    assert_true(set.published && fft->published == 9.68 && fft->of_s == 8e-6); /* of this problem and direction alone */
    assert_true(isnan(set.cells[1][1].published) && isnan(set.cells[2][1].published) && isnan(gemm->published));

    read_into(path, "cudnn:f*,cpu", "FWD", CNN_OK, &err);
    assert_true(set.n_curves == 2 && set.n_groups == 2 && !set.published); /* no GEMM to be a multiple of */
    read_into(path, "cudnn:fft", "BWD_D,BWD_W", CNN_OK, &err);
    assert_true(set.n_curves == 1 && set.n_groups == 1 && set.cells[0][0].seconds == 5e-6);
    assert_false(bars_have_plans(&set));
    read_into(path, "none", NULL, CNN_BAD_ARGUMENT, &err);
    assert_message(err, "no timed operation");
    unlink(path);
}

/* As many as there are colours. */
static void test_too_many(void **state)
{
    char path[32], name[32];
    cnn_error err = {.message = ""};
    FILE *file = begin(path);
    for (int i = 0; i < BARS_CURVES_MAX + 1; i++) {
        snprintf(name, sizeof name, "v%02d", i);
        line(file, "cpu", name, "ic1ih4oc1kh1", "FWD", "1e-6", "");
    }
    fclose(file);
    read_into(path, "cpu:v0*,cpu:v1[0-5]", NULL, CNN_OK, &err);
    assert_int_equal(set.n_curves, BARS_CURVES_MAX);
    read_into(path, NULL, NULL, CNN_BAD_ARGUMENT, &err);
    assert_message(err, "more than 16 bars");
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups), cmocka_unit_test(test_too_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
