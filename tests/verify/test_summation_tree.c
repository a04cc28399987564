/* test_summation_tree.c: trees of additions by themselves: found again from what is measured in them, and in words. */
#include "tests/unit.h"

#include "harness/base/rng.h"
#include "verify/summation/shape.h"

#include <stdio.h>
#include <stdlib.h>

static cnn_error err;

/* ---- Any tree is found again. */

/* Leaves and subtrees are joined by twos, sometimes by more, until one is left. */
static void draw_tree(sum_tree *tree, int leaves, int most, cnn_rng *rng)
{
    int list[64], count = leaves;
    assert_int_equal(sum_tree_open(tree, leaves, &err), CNN_OK);
    for (int i = 0; i < leaves; i++) list[i] = i;
    while (count > 1) {
        const int node = sum_tree_add(tree);
        int take = (int)rng_int(rng, 2, most);
        for (take = take < count ? take : count; take > 0; take--) {
            const int which = (int)rng_int(rng, 0, count - 1);
            sum_tree_attach(tree, node, list[which]);
            list[which] = list[--count];
        }
        list[count++] = node;
    }
    tree->root = list[0];
}

typedef struct meter {
    const sum_tree *tree;
    int asked;
} meter;

static cnn_status measure(void *user, int a, int b, int *leaves, cnn_error *e)
{
    meter *m = user;
    m->asked++;
    *leaves = m->tree->nodes[sum_tree_meet(m->tree, a, b)].leaves;
    return CNN_OK;
}

static void same_tree(const sum_tree *a, const sum_tree *b)
{
    static char of_a[4096], of_b[4096];
    sum_tree_text(a, of_a, sizeof of_a);
    sum_tree_text(b, of_b, sizeof of_b);
    assert_string_equal(of_a, of_b);
}

static void test_found_again(void **state)
{
    cnn_rng rng = rng_stream(37, 1);
    for (int i = 0; i < 400; i++) {
        sum_tree tree, found;
        const int leaves = (int)rng_int(&rng, 1, 60);
        draw_tree(&tree, leaves, i % 2 == 0 ? 2 : 6, &rng);
        meter m = {&tree, 0};
        assert_int_equal(sum_tree_build(&found, leaves, &(sum_meter){measure, &m}, &err), CNN_OK);
        same_tree(&tree, &found);
        assert_true(m.asked <= leaves * (leaves - 1) / 2);
        sum_tree_free(&tree);
        sum_tree_free(&found);
    }
}

/* A tree whose nodes are sequences: leaf by leaf, from the first or from the last. */
static void chain(sum_tree *tree, int leaves, int backwards)
{
    assert_int_equal(sum_tree_open(tree, leaves, &err), CNN_OK);
    tree->root = backwards ? leaves - 1 : 0;
    for (int i = 1; i < leaves; i++) {
        const int node = sum_tree_add(tree);
        sum_tree_attach(tree, node, tree->root);
        sum_tree_attach(tree, node, backwards ? leaves - 1 - i : i);
        tree->root = node;
    }
}

/* A sequence of n takes n - 1 measurements, from the other end twice as many: not n^2 / 2. */
static void test_few_measurements(void **state)
{
    for (int backwards = 0; backwards < 2; backwards++) {
        sum_tree tree, found;
        chain(&tree, 1000, backwards);
        meter m = {&tree, 0};
        assert_int_equal(sum_tree_build(&found, 1000, &(sum_meter){measure, &m}, &err), CNN_OK);
        assert_int_equal(m.asked, backwards ? 999 + 998 : 999);
        sum_tree_free(&tree);
        sum_tree_free(&found);
    }
}

static cnn_status invent(void *user, int a, int b, int *leaves, cnn_error *e)
{
    *leaves = *(int *)user;
    return CNN_OK;
}

static void test_no_tree(void **state)
{
    sum_tree found;
    int size = 3; /* of any two of five */
    assert_int_equal(sum_tree_build(&found, 5, &(sum_meter){invent, &size}, &err), CNN_UNSUPPORTED);
    assert_message(err, "no tree fits");
    size = 2;
    assert_int_equal(sum_tree_build(&found, 5, &(sum_meter){invent, &size}, &err), CNN_UNSUPPORTED);
    assert_message(err, "exact or compensated");
    size = 5; /* all in one addition: that is a tree */
    assert_int_equal(sum_tree_build(&found, 5, &(sum_meter){invent, &size}, &err), CNN_OK);
    assert_int_equal(sum_tree_children(&found, found.root), 5);
    sum_tree_free(&found);
    assert_int_equal(sum_tree_open(&found, SUM_LEAVES_MAX + 1, &err), CNN_UNSUPPORTED);
}

/* ---- In words. */

/* The tree that a text shows: "((0 1) 2)". */
static int read_node(sum_tree *tree, const char **at)
{
    if (**at != '(') return (int)strtol(*at, (char **)(uintptr_t)at, 10);
    const int node = sum_tree_add(tree);
    for (++*at; **at != ')'; *at += **at == ' ') sum_tree_attach(tree, node, read_node(tree, at));
    ++*at;
    return node;
}

static void read_tree(sum_tree *tree, int leaves, const char *text)
{
    const char *at = text;
    assert_int_equal(sum_tree_open(tree, leaves, &err), CNN_OK);
    tree->root = read_node(tree, &at);
    assert_int_equal(tree->nodes[tree->root].leaves, leaves);
}

/* 2 channels of 2 x 3 taps. */
static void tell(int leaves, const char *text, const char *expected, bool regular)
{
    int at[64][SUM_AXES_MAX];
    sum_axes axes = {.count = SUM_AXES_MAX, .name = {"ic", "kh", "kw"}, .at = (const int(*)[SUM_AXES_MAX])at};
    sum_views views;
    sum_tree tree;
    char words[512];
    for (int i = 0; i < leaves; i++) at[i][0] = i / 6, at[i][1] = i / 3 % 2, at[i][2] = i % 3;
    read_tree(&tree, leaves, text);
    assert_int_equal(sum_views_open(&views, &axes, leaves, &err), CNN_OK);
    const bool is_regular = sum_shape(&tree, &views, words, sizeof words);
    assert_string_equal(words, expected);
    assert_int_equal(is_regular, regular);
    sum_views_free(&views);
    sum_tree_free(&tree);
}

static void test_words(void **state)
{
    tell(6, "(((((0 1) 2) 3) 4) 5)", "in sequence over kh, kw", true);
    tell(6, "(((((0 3) 1) 4) 2) 5)", "in sequence over kw, kh", true);
    tell(6, "(((((5 4) 3) 2) 1) 0)", "in sequence over kh backwards, kw backwards", true);
    tell(6, "(((((0 5) 1) 2) 3) 4)", "in sequence, in an order that no loops have", true);
    tell(12, "(((((((((((0 6) 1) 7) 2) 8) 3) 9) 4) 10) 5) 11)", "in sequence over kh, kw, ic", true);
    tell(12, "(((((((((((0 1) 2) 6) 7) 8) 3) 4) 5) 9) 10) 11)", "in sequence over kh, ic, kw", true);
    tell(12, "((((((0 1) 2) 3) 4) 5) (((((6 7) 8) 9) 10) 11))",
         "2 partial sums (each ic), each in sequence over kh, kw; added", true);
    tell(12, "(((((0 3) 6) 9) (((1 4) 7) 10)) (((2 5) 8) 11))",
         "3 partial sums (each kw), each in sequence over ic, kh; added in sequence over kw", true);
    tell(6, "(((0 1) 2) ((3 4) 5))", "pairwise (each kh)", true); /* of three, pairwise is a sequence */
    tell(8, "(((0 1) (2 3)) ((4 5) (6 7)))", "pairwise (4 products in a row)", true);
    tell(7, "(((0 1) (2 3)) ((4 5) 6))", "pairwise (each ic, 4 kh*kw)", true);
    tell(6, "((0 1 2) (3 4 5))", "2 partial sums (each kh), each in one addition of 3; added", true);
    tell(6, "(0 1 2 3 4 5)", "in one addition of 6", true);
    tell(7, "(((0 1 2) 3 4) 5 6)", "2 at a time, in one addition with the sum before, in sequence over products", true);
    tell(9, "((((((((0 2) 4) 6) 8) 1) 3) 5) 7)", "in sequence, in an order that no loops have", true);
    tell(9, "(((((0 1) 2) (3 4)) ((5 6) 7)) 8)",
         "4 partial sums of 1 to 3 products, each in sequence, the longest over 3 products; added in sequence", true);
    tell(10, "(((((0 1) (2 3)) 4) ((5 6) (7 8))) 9)", "in a tree of no known pattern, 5 additions deep", false);
}

/* A leaf that goes takes its addition with it; where it came in. */
static void test_remove(void **state)
{
    static const struct {
        const char *tree, *place, *rest;
    } rows[] = {{"(((3 0) 1) 2)", "first", "[0 1 2]"},
                {"(((0 1) 2) 3)", "last", "[0 1 2]"},
                {"(((0 1) 3) 2)", "after 2 products", "[0 1 2]"},
                {"((0 1 3) 2)", "in one addition with others, after which the sum has 3 addends", "[0 1 2]"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sum_tree tree;
        char text[128];
        read_tree(&tree, 4, rows[i].tree);
        sum_place(&tree, 3, 3, text, sizeof text);
        assert_string_equal(text, rows[i].place);
        sum_tree_remove(&tree, 3);
        sum_tree_text(&tree, text, sizeof text);
        assert_string_equal(text, rows[i].rest);
        sum_tree_free(&tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found_again), cmocka_unit_test(test_few_measurements),
                                       cmocka_unit_test(test_no_tree), cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_remove)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
