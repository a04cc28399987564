/* test_text.c: text put together piece by piece keeps to its buffer, and a quoted word is the same word to a shell. */
#include "tests/unit.h"

#include "harness/base/text.h"

static void keeps_to_its_buffer(void **state)
{
    char text[12];
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

static void shown(const char *text, const char *expected)
{
    char room[64];
    assert_string_equal(cnn_visible(text, room, sizeof room), expected);
    assert_int_equal(cnn_is_visible(text), strcmp(text, expected) == 0);
}

static void what_a_terminal_obeys_is_shown(void **state)
{
    char room[8];
    shown("plain, \\x1b too, Größe ≤ 5", "plain, \\x1b too, Größe ≤ 5");
    shown("\033[2J\r\n\177", "\\x1b[2J\\x0d\\x0a\\x7f");
    shown("\xc2\x9b[2J", "\\xc2\\x9b[2J");            /* C1: CSI in one character */
    shown("\xe2\x80\xae.abc", "\\xe2\\x80\\xae.abc"); /* turns what follows around */
    shown("\xff\xc3", "\\xff\\xc3");                  /* no UTF-8; a character that is cut off */
    assert_string_equal(cnn_visible(NULL, room, sizeof room), "");
    assert_string_equal(cnn_visible("abcd\033\033", room, sizeof room), "abcd"); /* cut between characters */
}

static void quoted(const char *word, const char *expected)
{
    char text[64] = "--net ";
    cnn_append_quoted(text, sizeof text, word);
    assert_string_equal(text + 6, expected);
}

static void words_read_back(void **state)
{
    quoted("g1mb2ic3ih8oc4kh3", "g1mb2ic3ih8oc4kh3");
    quoted("cpu.im2col_rows=5,./A@b%c", "cpu.im2col_rows=5,./A@b%c");
    quoted("", "''");
    quoted("two words", "'two words'");
    quoted("cpu:*", "'cpu:*'");
    quoted("a\033[2J'b\\", "$'a\\033[2J\\047b\\134'");
    quoted("it's", "'it'\\''s'");
    quoted("'", "''\\'''");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_to_its_buffer),
                                       cmocka_unit_test(what_a_terminal_obeys_is_shown),
                                       cmocka_unit_test(words_read_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
