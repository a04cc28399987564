/* test_expression.c: the values of expressions, and what is refused. */
#include "impl_kernel/expression.h"
#include "tests/unit.h"

#include <string.h>

static bool find(void *user, const char *name, int64_t *value)
{
    (void)user;
    *value = strcmp(name, "oh") == 0 ? 13 : strcmp(name, "big") == 0 ? INT64_MAX : 0;
    return *value != 0 || strcmp(name, "zero") == 0;
}

static cnn_status eval(const char *text, bool dry, int64_t values[3], int *count, cnn_error *err)
{
    const expr_scope scope = {find, NULL, dry, "oh big zero"};
    return expr_eval("--grid", text, &scope, values, 3, count, err);
}

static void values_are_right(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"1", 1},
        {" ( 2+3 ) * 4 ", 20},
        {"2+3*4-5", 9},
        {"10-3-2", 5},
        {"100/7/2", 7},
        {"17%5*2", 4},
        {"-3+5", 2},
        {"--3", 3},
        {"-7/2", -3},
        {"cdiv(oh,4)", 4},
        {"ceil(oh, 13)", 1},
        {"cdiv(-7,2)", -3},
        {"cdiv(7,-2)", -3},
        {"cdiv(-7,-2)", 4},
        {"min(oh,4)+max(oh,4)", 17},
        {"cdiv(min(oh*oh,100), max(1,3))", 34},
        {"big", INT64_MAX},
        {"-big-1", INT64_MIN},
        {"oh%-1", 0},
        {"((((((((oh))))))))", 13},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t values[3];
        int count;
        cnn_error err;
        const cnn_status status = eval(cases[i].text, false, values, &count, &err);
        if (status != CNN_OK || count != 1 || values[0] != cases[i].value)
            fail_msg("%s: status %d, %d values, the first %lld", cases[i].text, (int)status, count,
                     (long long)values[0]);
    }
}

static void lists_have_an_end(void **state)
{
    int64_t values[3];
    int count;
    cnn_error err;
    assert_int_equal(eval("cdiv(oh,2), oh ,3", false, values, &count, &err), CNN_OK);
    assert_int_equal(count, 3);
    assert_int_equal(values[0], 7);
    assert_int_equal(values[1], 13);
    assert_int_equal(values[2], 3);
    assert_int_equal(eval("1,2,3,4", false, values, &count, &err), CNN_BAD_ARGUMENT);
    assert_non_null(strstr(err.message, "more than 3"));
}

static void refuses(const char *text, bool dry, cnn_status status, const char *words)
{
    int64_t values[3];
    int count;
    cnn_error err = {.message = ""};
    if (eval(text, dry, values, &count, &err) != status || strstr(err.message, words) == NULL)
        fail_msg("%s: status %d: %s", text, (int)err.status, err.message);
}

static void what_is_none_is_refused(void **state)
{
    char deep[400];
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    for (int dry = 0; dry < 2; dry++) {
        refuses("", dry, CNN_BAD_ARGUMENT, "is missing at its end");
        refuses("1+", dry, CNN_BAD_ARGUMENT, "is missing at its end");
        refuses("1,", dry, CNN_BAD_ARGUMENT, "is missing at its end");
        refuses("(1", dry, CNN_BAD_ARGUMENT, "a ')' is missing");
        refuses("1)", dry, CNN_BAD_ARGUMENT, "before ')'");
        refuses("1 2", dry, CNN_BAD_ARGUMENT, "before '2'");
        refuses("ohh", dry, CNN_BAD_ARGUMENT, "there is no 'ohh'; there are oh big zero");
        refuses("sin(oh)", dry, CNN_BAD_ARGUMENT, "no function 'sin'");
        refuses("min(1)", dry, CNN_BAD_ARGUMENT, "between two values");
        refuses("min(1,2,3)", dry, CNN_BAD_ARGUMENT, "a ')' is missing");
        refuses("99999999999999999999", dry, CNN_OVERFLOW, "64 bits");
        refuses(deep, dry, CNN_BAD_ARGUMENT, "nested too deeply");
        memset(deep, '-', sizeof deep - 1);
        refuses(deep, dry, CNN_BAD_ARGUMENT, "nested too deeply");
        memset(deep, '(', sizeof deep - 1);
    }
}

/* Only where there are values. */
static void no_value_is_invented(void **state)
{
    static const char *const over[] = {"big+1", "-big-2", "big*2", "(-big-1)/-1", "0-(-big-1)", "-(-big-1)"};
    static const char *const zero[] = {"oh/zero", "oh%zero", "cdiv(oh,zero)", "ceil(1,oh-13)"};
    int64_t values[3];
    int count;
    cnn_error err;
    for (size_t i = 0; i < sizeof over / sizeof *over; i++) {
        refuses(over[i], false, CNN_OVERFLOW, "more than 64 bits");
        assert_int_equal(eval(over[i], true, values, &count, &err), CNN_OK);
    }
    for (size_t i = 0; i < sizeof zero / sizeof *zero; i++) {
        refuses(zero[i], false, CNN_UNSUPPORTED, "division by zero");
        assert_int_equal(eval(zero[i], true, values, &count, &err), CNN_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_right),
        cmocka_unit_test(lists_have_an_end),
        cmocka_unit_test(what_is_none_is_refused),
        cmocka_unit_test(no_value_is_invented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
