/* Lists of mutants and the changes they make: a mutant that silently is the original must not be possible. */
#include "tests/unit.h"

#include "tests/mutants/list.h"

#include <stdlib.h>
#include <unistd.h>

static const char head[] = "mutant a.b\nwhy  it is wrong\nof   cpu:naive\nverify --op conv\nunit x.c\nin   x.c\n";

/* Reads `text` as a list. */
static cnn_status read_text(const char *text, mutant_list *list, cnn_error *err)
{
    char path[] = "/tmp/benchcnn-mutants-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    *list = (mutant_list){0};
    const cnn_status status = mutant_list_read(path, list, err);
    unlink(path);
    return status;
}

static void refused(const char *before, const char *after, const char *word)
{
    char text[2048];
    cnn_error err = {.message = ""};
    mutant_list list;
    snprintf(text, sizeof text, "%s%s", before, after);
    assert_int_equal(read_text(text, &list, &err), CNN_BAD_FORMAT);
    if (strstr(err.message, word) == NULL) fail_msg("'%s' does not say '%s'", err.message, word);
    mutant_list_free(&list);
}

static void a_list_is_read(void **state)
{
    (void)state;
    char text[2048];
    cnn_error err = {.message = ""};
    mutant_list list;
    snprintf(text, sizeof text, "# a comment\n\n%s one\n-two\n+2\nin   y.h\n-three\nmutant c\n%s-x\n", head,
             strchr(head, '\n') + 1);
    if (read_text(text, &list, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_int_equal(list.count, 2);
    const mutant *m = mutant_find(&list, "a.b");
    assert_non_null(m);
    assert_string_equal(m->why, "it is wrong");
    assert_string_equal(m->of, "cpu:naive");
    assert_int_equal(m->n_changes, 2);
    assert_string_equal(m->changes[0].text, " one\n-two\n+2\n");
    assert_string_equal(m->changes[1].file, "y.h");
    assert_null(mutant_find(&list, "a"));
    mutant_list_free(&list);
}

static void malformed_lists_are_refused(void **state)
{
    (void)state;
    refused("why x\n", "", "before any mutant");
    refused("-x\n", "", "no 'in' before it");
    refused("mutant a\nwhy x\n", "", "has not 'of'");
    refused(head, "", "has not a change");
    refused(head, "-x\nunit\n", "'unit' of what?");
    refused(head, "-x\nof cpu\n", "a second 'of'");
    refused(head, "-x\nwhere x.c\n", "none of mutant");
    refused(head, "-x\nmutant a.b\n", "a second mutant a.b");
    refused("mutant ../a\n", "", "may hold a-z");
}

/* ---- Changes. */

static cnn_status apply(const char *change, const char *source, char **patched, cnn_error *err)
{
    char *copy = strdup(change);
    const mutant m = {.name = (char[]){"m"}};
    const mutant_change c = {(char[]){"x.c"}, copy};
    const cnn_status status = mutant_apply(&m, &c, source, patched, err);
    free(copy);
    return status;
}

static void becomes(const char *change, const char *source, const char *expected)
{
    char *patched;
    cnn_error err = {.message = ""};
    if (apply(change, source, &patched, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_string_equal(patched, expected);
    free(patched);
}

static void not_applied(const char *change, const char *source, const char *word)
{
    char *patched;
    cnn_error err = {.message = ""};
    assert_int_equal(apply(change, source, &patched, &err), CNN_BAD_FORMAT);
    assert_null(patched);
    if (strstr(err.message, word) == NULL) fail_msg("'%s' does not say '%s'", err.message, word);
}

static void changes_are_made(void **state)
{
    (void)state;
    becomes("-b\n+B\n", "a\nb\nc\n", "a\nB\nc\n");
    becomes("-b\n", "a\nb\nc", "a\nc");
    becomes(" a\n+ b;\n", "a\nc\n", "a\n b;\nc\n");
    becomes(" x\n-b\n+B\n", "b\nx\nb\n", "b\nx\nB\n");
    becomes("-if (a) b;\n+c\n", "\tif(a)\t b;\n", "c\n"); /* white space does not count ... */
    becomes(" x  y\n-z\n", "   x y\nz\n", "   x y\n");    /* ... and stays where nothing is changed */
}

static void what_is_not_there_exactly_once_is_refused(void **state)
{
    (void)state;
    not_applied("-d\n", "a\nb\nc\n", "has not the text");
    not_applied("-a\n-c\n", "a\nb\nc\n", "has not the text");
    not_applied("-b\n+B\n", "b\nx\nb\n", "2 times");
    not_applied("-b\n+ b\n", "a\nb\n", "changes nothing");
    not_applied(" b\n", "a\nb\n", "changes nothing");
    not_applied("+b\n", "a\nb\n", "says not where");
    not_applied("-b\n-c\n", "a\nb\n", "has not the text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_read),
        cmocka_unit_test(malformed_lists_are_refused),
        cmocka_unit_test(changes_are_made),
        cmocka_unit_test(what_is_not_there_exactly_once_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
