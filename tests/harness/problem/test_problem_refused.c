/* test_problem_refused.c: descriptors and files of them that are wrong: the message names the place. */
#include "tests/unit.h"

#include "harness/problem/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const cnn_problem_defaults defaults = {.type = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32}};

static void bad_descriptors_are_refused_with_the_place(void **state)
{
    static const struct {
        cnn_op op;
        const char *text, *word;
        cnn_status status;
    } cases[] = {
        {CNN_OP_CONV, "", "empty", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3ih5oc4kq3", "column 10", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3ihoc4kh3", "column 6", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3ih-5oc4kh3", "column 6", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3ih5oc4kh3xyz", "column 13", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3ih99999999999999999999oc4kh3", "2147483647", CNN_UNSUPPORTED},
        {CNN_OP_CONV, "ic3ih5oc4", "kh", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3oc4", "no spatial size", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ih5oc4kh3", "ic is 0", CNN_BAD_ARGUMENT},
        {CNN_OP_CONV, "ic3ih5kh3", "oc is 0", CNN_BAD_ARGUMENT},
        {CNN_OP_CONV, "mb0ic3ih5oc4kh3", "mb is 0", CNN_BAD_ARGUMENT},
        {CNN_OP_CONV, "ic3ih5oc4kh3sh0", "sh", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3ih5oc4kh7", "spans 7", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "g2ic3ih5oc4kh3", "does not divide", CNN_BAD_ARGUMENT},
        {CNN_OP_CONV, "g0ic3ih5oc4kh3", "g is 0", CNN_BAD_ARGUMENT},
        {CNN_OP_CONV, "ic3ih16kh3kw5oc4", "iw is needed", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3ih8oc4kh3sh2sw1", "sw1 beside sh2", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3ih8oc4kh3dh1dw0", "dw0 beside dh1", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3ih8oc4kh3ph1pw0", "pw0 beside ph1", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3ih9oc4oh3kh3", "negative", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3oc4oh1kh3ph2", "oh1 needs an ih of -1", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3oc4oh2147483647kh3sh2", "needs an ih of 4294967295", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3ih5oc4kh3zx256", "a zero point is from -128 to 255", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3ih5oc4kh3zy-129", "a zero point is from -128 to 255", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3ih5oc4kh3zx-", "column 15", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3ih5oc4kh3soc2", "soc is 0 or 1", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "ic3ih5oc4kh3soc-1", "column 16", CNN_BAD_FORMAT},
        {CNN_OP_DECONV, "ic3ih5oc4kh3zx1", "no such dimension", CNN_BAD_FORMAT},
        {CNN_OP_POOL, "max:ic3ih4kh2zx1", "no such dimension", CNN_BAD_FORMAT},
        {CNN_OP_DECONV, "ic3oc4oh2kh5", "ih and kh are needed", CNN_BAD_FORMAT},
        {CNN_OP_DECONV, "ic3_id5kd3_oc16", "3-D", CNN_UNSUPPORTED},
        {CNN_OP_POOL3D, "max:ic3id5ih4iw4kd2pd3kh2kw2", "output d = 0 lies wholly in the padding", CNN_UNSUPPORTED},
        {CNN_OP_POOL, "max:ic3id5ih4kd2kh2", "with a depth, height and width are both needed", CNN_BAD_FORMAT},
        {CNN_OP_CONV, "mb2147483647ic2147483647ih3oc4kh3",
         "x of 2147483647 x 2147483647 x 3 x 3 has more bytes than a 64-bit", CNN_OVERFLOW},
        {CNN_OP_FC, "ic3oc4kh3", "no such dimension", CNN_BAD_FORMAT},
        {CNN_OP_POOL, "mb2ic3ih4kh2", "kind", CNN_BAD_FORMAT},
        {CNN_OP_POOL, "mox:ic3ih4kh2", "did you mean 'max'", CNN_BAD_ARGUMENT},
        {CNN_OP_POOL, "max:ic3ih4kh2ph3", "wholly in the padding", CNN_UNSUPPORTED},
        {CNN_OP_ACT, "leaky_relu=x:ic3", "leaky_relu", CNN_BAD_FORMAT},
        {CNN_OP_ACT, "elu=-1:ic3", "alpha is -1", CNN_BAD_ARGUMENT},
        {CNN_OP_DROPOUT, "1.0:ic3", "rate is 1", CNN_BAD_ARGUMENT},
        {CNN_OP_DROPOUT, "0.2,seed=-1:ic3", "'seed=-1' needs a whole number", CNN_BAD_ARGUMENT},
        {CNN_OP_DROPOUT, "0.2,sed=1:ic3", "did you mean 'seed'", CNN_BAD_ARGUMENT},
        {CNN_OP_BATCHNORM, "inferense:ic3", "'inferense' should be 'inference'", CNN_BAD_FORMAT},
        {CNN_OP_BATCHNORM, "eps=x:ic3", "'eps=x' needs a number", CNN_BAD_ARGUMENT},
        {CNN_OP_BATCHNORM, "eps=0:ic3", "eps is 0", CNN_BAD_ARGUMENT},
        {CNN_OP_BATCHNORM, "inference,momentum:ic3", "'momentum' needs a number", CNN_BAD_ARGUMENT},
        {CNN_OP_CONCAT, "3+:mb2", "channel counts", CNN_BAD_FORMAT},
        {CNN_OP_CONCAT, "3+0:mb2", "ic is 0", CNN_BAD_ARGUMENT},
        {CNN_OP_OPTIMIZER, "adam,lr=-1:ic9", "lr is -1", CNN_BAD_ARGUMENT},
        {CNN_OP_OPTIMIZER, "adan:ic9", "did you mean 'adam'", CNN_BAD_ARGUMENT},
        {CNN_OP_OPTIMIZER, "adam,mu=1:ic9", "optimizer option", CNN_BAD_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cnn_problem p;
        cnn_error err = {.message = ""};
        const cnn_status status = cnn_problem_parse(cases[i].op, cases[i].text, &defaults, &p, &err);
        if (status != cases[i].status || strstr(err.message, cases[i].word) == NULL)
            fail_msg("'%s' gave status %d: %s", cases[i].text, (int)status, err.message);
    }
}

typedef struct seen {
    int good, refused;
    char last[CNN_MESSAGE_MAX];
} seen;

static cnn_status count_problem(void *user, const char *text, cnn_op op, const cnn_problem_said *said,
                                const cnn_problem *problem, cnn_error *err)
{
    seen *s = user;
    if (problem != NULL)
        s->good++;
    else {
        s->refused++;
        snprintf(s->last, sizeof s->last, "%s", err->message);
    }
    return CNN_OK;
}

static void problem_files_hold_comments_names_and_blanks(void **state)
{
    char path[] = "/tmp/benchcnn_problems_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fputs("# a comment ic3\n\n  ic3ih5oc4kh3_n\"two words\" ic3ih6oc4kh3 # "
          "ic3ih7oc4kh3\n#ic3ih8oc4kh3\nic3_iw9999999999kw3_oc4\n",
          file);
    fclose(file);
    seen s = {0};
    cnn_error err;
    assert_int_equal(cnn_problem_file(path, CNN_OP_CONV, false, &defaults, count_problem, &s, &err), CNN_OK);
    unlink(path);
    assert_int_equal(s.good, 2);
    assert_int_equal(s.refused, 1);
    if (strstr(s.last, ":5: ") == NULL || strstr(s.last, "iw is larger") == NULL) fail_msg("%s", s.last);
    assert_int_equal(cnn_problem_file("/nonexistent/file", CNN_OP_CONV, false, &defaults, count_problem, &s, &err),
                     CNN_IO);
    assert_message(err, "/nonexistent/file");
}

/* However deep the folder, the message tells the line. */
static void a_long_path_keeps_its_line(void **state)
{
    char path[256] = "/tmp/benchcnn_problems_XXXXXX", command[300];
    seen s = {0};
    cnn_error err;
    assert_non_null(mkdtemp(path));
    const size_t folder = strlen(path);
    path[folder] = '/';
    memset(path + folder + 1, 'f', 180);
    strcpy(path + folder + 181, ".txt");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("ic3ih5oc4kh3\n\nic3ih5oc4kh7\n", file);
    fclose(file);
    const cnn_status status = cnn_problem_file(path, CNN_OP_CONV, false, &defaults, count_problem, &s, &err);
    path[folder] = '\0';
    snprintf(command, sizeof command, "rm -r %s", path);
    assert_int_equal(system(command), 0);
    assert_int_equal(status, CNN_OK);
    assert_int_equal(s.refused, 1);
    if (strncmp(s.last, "...f", 4) != 0 || strstr(s.last, "fff.txt:3: ") == NULL || strstr(s.last, "spans 7") == NULL)
        fail_msg("%s", s.last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_descriptors_are_refused_with_the_place),
        cmocka_unit_test(problem_files_hold_comments_names_and_blanks),
        cmocka_unit_test(a_long_path_keeps_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
