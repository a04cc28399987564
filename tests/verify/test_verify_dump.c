/* --dump: the arrays of a failure as .npy files, from the fake kernel that spoils the last corner. */
#include "tests/unit.h"

#include "harness/data/npy.h"
#include "verify/verify.h"
#include "verify_fake.h"

#include <unistd.h>

typedef struct dump {
    char dir[64], path[DUMP_PATH_MAX];
    int number;
} dump;

static void dump_it(void *user, const verify_failure *f)
{
    dump *d = user;
    cnn_error err = {.message = ""};
    if (dump_failure(d->dir, ++d->number, f, "benchcnn verify --again", d->path, &err) != CNN_OK)
        fail_msg("%s", err.message);
}

static npy_array load(const dump *d, const char *name)
{
    char path[DUMP_PATH_MAX + 64];
    npy_array a;
    cnn_error err = {.message = ""};
    snprintf(path, sizeof path, "%s/%s.npy", d->path, name);
    if (npy_read(path, &a, &err) != CNN_OK) fail_msg("%s", err.message);
    unlink(path);
    return a;
}

/* Runs a mutant's exact check with the dump for its failures. */
static void run(dump *d, mutant m, cnn_op op, const char *text, cnn_dir dir)
{
    const verify_options options = {
        .checks = 1u << VERIFY_EXACT, .reference_threads = 1, .failed = dump_it, .failed_user = d};
    const cnn_problem problem = problem_of(op, text, CNN_F32, CNN_NHWC);
    fake_ask(m, &problem, dir, FAKE_EXACT, &options);
}

static void finish(const dump *d)
{
    char path[DUMP_PATH_MAX + 64], text[64] = "";
    snprintf(path, sizeof path, "%s/command.txt", d->path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    assert_string_equal(text, "benchcnn verify --again\n");
    fclose(file);
    unlink(path);
    assert_int_equal(rmdir(d->path), 0); /* nothing else was written */
}

static void inputs_expected_and_got_are_written(void **state)
{
    dump d = {.dir = "/tmp/test_dump_XXXXXX"};
    assert_non_null(mkdtemp(d.dir));
    run(&d, MUTANT_CORNER, CNN_OP_CONV, "mb2ic5ih9oc6kh3ph1", CNN_FWD);
    assert_int_equal(d.number, 1); /* the second variant of the check is not dumped again */
    assert_non_null(strstr(d.path, "/001-fake-exact-conv-FWD-exact"));
    npy_array x = load(&d, "x"), w = load(&d, "w"), b = load(&d, "b"), want = load(&d, "y_expected"),
              got = load(&d, "y_got");
    assert_true(x.n_dims == 4 && x.dims[1] == 5 && x.dims[2] == 9 && x.type == NPY_F32);
    assert_true(w.n_dims == 4 && w.dims[0] == 6 && w.dims[1] == 5 && w.dims[3] == 3);
    assert_true(b.n_dims == 1 && b.dims[0] == 6);
    assert_true(want.type == NPY_F64 && got.type == NPY_F32 && got.count == want.count);
    for (int64_t i = 0; i < got.count; i++)
        if ((npy_get(&want, i) == npy_get(&got, i)) == (i == got.count - 1)) fail_msg("element %lld", (long long)i);
    npy_array *all[] = {&x, &w, &b, &want, &got};
    for (int i = 0; i < 5; i++) npy_free(all[i]);
    finish(&d);
    rmdir(d.dir);
}

/* Labels and other integers are written as f64, FC's y as a matrix. */
static void other_operations_are_written(void **state)
{
    dump d = {.dir = "/tmp/test_dump_XXXXXX"};
    assert_non_null(mkdtemp(d.dir));
    run(&d, MUTANT_CORNER, CNN_OP_FC, "mb6ic5ih3oc7", CNN_BWD_D);
    npy_array dy = load(&d, "dy"), w = load(&d, "w"), want = load(&d, "dx_expected"), got = load(&d, "dx_got");
    assert_true(dy.n_dims == 2 && dy.dims[0] == 6 && dy.dims[1] == 7 && w.n_dims == 4 && got.n_dims == 4);
    npy_array *all[] = {&dy, &w, &want, &got};
    for (int i = 0; i < 4; i++) npy_free(all[i]);
    finish(&d);
    rmdir(d.dir);
}

static void folders_that_cannot_be_made_are_refused(void **state)
{
    cnn_error err;
    assert_int_equal(dump_prepare("/nonexistent/dump", &err), CNN_IO);
    assert_message(err, "/nonexistent/dump");
    assert_int_equal(dump_prepare("/dev/null", &err), CNN_IO);
    assert_int_equal(dump_prepare("/tmp", &err), CNN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_expected_and_got_are_written),
        cmocka_unit_test(other_operations_are_written),
        cmocka_unit_test(folders_that_cannot_be_made_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
