/* test_peaks_kept.c: ceilings kept from run to run, and all that must not count as such. */
#include "bench/measure/clocks.h"
#include "bench/measure/peaks.h"
#include "bench/measure/stats.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "tests/unit.h"

static const cnn_type f32 = {.dtype = CNN_F32}, f64 = {.dtype = CNN_F64};
static const peak_plan plan = {.types = &f32, .n_types = 1}, plan_f64 = {.types = &f64, .n_types = 1};

typedef struct setting {
    cnn_session session;
    bench_peaks peaks;
    char folder[64], path[1024];
} setting;

static void add(setting *s, const char *what, cnn_peak_unit unit, unsigned marks)
{
    cnn_error err;
    bench_peak p = {
        .unit = unit, .threads = s->session.threads, .value = 2e9, .median = 1e9, .samples = 7, .marks = marks};
    machine_name(&s->session, p.machine, sizeof p.machine);
    snprintf(p.what, sizeof p.what, "%s", what);
    assert_int_equal(bench_peaks_add(&s->peaks, &p, &err), CNN_OK);
}

static void set_up(setting *s)
{
    const cnn_session_params params = {.threads = 2};
    cnn_error err;
    *s = (setting){.folder = "/tmp/benchcnn-kept-XXXXXX"};
    assert_non_null(mkdtemp(s->folder));
    setenv("XDG_CACHE_HOME", s->folder, 1);
    assert_int_equal(cnn_session_open(cnn_impl_find(NULL, "cpu", &err), &params, &s->session, &err), CNN_OK);
    add(s, "fma", CNN_PEAK_FLOPS, 0);
    add(s, "read", CNN_PEAK_BYTES, 0);
    assert_true(bench_kept_path(&s->session, &plan, s->path, sizeof s->path));
}

static void tear_down(setting *s)
{
    char folder[128];
    (void)unlink(s->path);
    snprintf(folder, sizeof folder, "%s/benchcnn", s->folder);
    (void)rmdir(folder);
    assert_int_equal(rmdir(s->folder), 0); /* nothing else was left */
    bench_peaks_free(&s->peaks);
    cnn_session_close(&s->session);
}

static int kept(const setting *s, const peak_plan *by)
{
    bench_peaks read = {.count = 0};
    double age;
    const bool there = bench_peaks_kept(&read, &s->session, by, &age);
    const int count = read.count;
    assert_true(there == (count > 0) && (!there || (age >= 0 && age < 100 && read.list[0].samples == 7)));
    bench_peaks_free(&read);
    return count;
}

static void what_was_measured_is_there(void **state)
{
    setting s;
    set_up(&s);
    assert_int_equal(kept(&s, &plan), 0);
    bench_peaks_keep(&s.peaks, &s.session, &plan);
    assert_int_equal(kept(&s, &plan), 2);
    assert_int_equal(kept(&s, &plan_f64), 0); /* other types */
    s.session.threads = 1;
    assert_int_equal(kept(&s, &plan), 0);
    s.session.threads = 2;
    tear_down(&s);
}

static void what_is_in_doubt_is_not_kept(void **state)
{
    setting s;
    set_up(&s);
    bench_peaks_keep(&s.peaks, &s.session, &plan);
    add(&s, "copy", CNN_PEAK_BYTES, BENCH_DISTURBED);
    bench_peaks_keep(&s.peaks, &s.session, &plan);
    assert_int_equal(kept(&s, &plan), 0);
    tear_down(&s);
}

/* One byte is changed at a time, or cut off: what is read then is all of it, unchanged in what counts, or nothing. */
static void a_broken_file_counts_as_none(void **state)
{
    setting s;
    char text[4096];
    set_up(&s);
    bench_peaks_keep(&s.peaks, &s.session, &plan);
    FILE *file = fopen(s.path, "r");
    assert_non_null(file);
    const size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_true(size > 100 && size < sizeof text);
    static const char *const spoils[] = {"\"build\":\"", "\"machine\":\"", "\"kind\":\"ceilings", "\"unit\":\"",
                                         "\"marks\":\""};
    for (size_t i = 0; i <= sizeof spoils / sizeof spoils[0]; i++) {
        char broken[4096];
        memcpy(broken, text, size);
        broken[size] = '\0';
        char *at = i < sizeof spoils / sizeof spoils[0] ? strstr(broken, spoils[i]) : broken + size / 2;
        assert_non_null(at);
        if (i < sizeof spoils / sizeof spoils[0])
            at[strlen(spoils[i])] = '?';
        else
            *at = '\0';
        file = fopen(s.path, "w");
        assert_non_null(file);
        assert_true(fwrite(broken, 1, strlen(broken), file) == strlen(broken) && fclose(file) == 0);
        assert_int_equal(kept(&s, &plan), 0);
    }
    tear_down(&s);
}

static void after_a_day_they_are_measured_again(void **state)
{
    setting s;
    const time_t now = time(NULL);
    set_up(&s);
    bench_peaks_keep(&s.peaks, &s.session, &plan);
    for (int i = 0; i < 2; i++) { /* or it is from the future */
        const struct utimbuf then = {now, i == 0 ? now - 90000 : now + 4000};
        assert_int_equal(utime(s.path, &then), 0);
        assert_int_equal(kept(&s, &plan), 0);
    }
    tear_down(&s);
}

static void without_a_folder_nothing_is_kept(void **state)
{
    setting s;
    set_up(&s);
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    bench_peaks_keep(&s.peaks, &s.session, &plan);
    assert_int_equal(kept(&s, &plan), 0);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_measured_is_there),       cmocka_unit_test(what_is_in_doubt_is_not_kept),
        cmocka_unit_test(a_broken_file_counts_as_none),     cmocka_unit_test(after_a_day_they_are_measured_again),
        cmocka_unit_test(without_a_folder_nothing_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
