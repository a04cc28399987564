/* test_text.c: text put together piece by piece keeps to its buffer, and a quoted word is the same word to a shell. */
#include "unit.h"

#include "harness/text.h"

static void keeps_to_its_buffer(void **state)
{
    char text[12];
    (void)state;
    memset(text, 'x', sizeof text);
    text[0] = '\0';
    cnn_append(text, 8, "%s=%d", "ab", 12);
    assert_string_equal(text, "ab=12");
    cnn_append(text, 8, ",%s", "rest");
    assert_string_equal(text, "ab=12,r"); /* cut where it is full */
    cnn_append(text, 8, "more");
    cnn_append_quoted(text, 8, "a word");
    assert_string_equal(text, "ab=12,r");
    assert_memory_equal(text + 8, "xxxx", 4);
}

static void quoted(const char *word, const char *expected)
{
    char text[64] = "--net ";
    cnn_append_quoted(text, sizeof text, word);
    assert_string_equal(text + 6, expected);
}

static void words_read_back(void **state)
{
    (void)state;
    quoted("g1mb2ic3ih8oc4kh3", "g1mb2ic3ih8oc4kh3");
    quoted("cpu.im2col_rows=5,./A@b%c", "cpu.im2col_rows=5,./A@b%c");
    quoted("", "''");
    quoted("two words", "'two words'");
    quoted("cpu:*", "'cpu:*'");
    quoted("it's", "'it'\\''s'");
    quoted("'", "''\\'''");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_to_its_buffer), cmocka_unit_test(words_read_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
