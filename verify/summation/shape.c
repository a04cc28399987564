/* shape.c: a tree in words. It is taken apart from the root: down the side of the largest subtree, what is added on the
 * way are the parts of a sequence; where both sides are alike all the way down, it is pairwise. Each part is then
 * described alike. */
#include "shape.h"
#include "parts.h"

#include "harness/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 256 };

typedef struct teller {
    const sum_tree *tree;
    const sum_views *views;
    bool regular;
} teller;

static void tell(teller *t, int node, char *text, size_t size);

/* ---- Words. */

/* " (every 8th ic)": which leaves are in a part. */
static void append_part(const teller *t, int node, char *text, size_t size)
{
    char part[TEXT];
    int count = 0, *list = malloc((size_t)sum_leaves(t->tree, node) * sizeof *list);
    if (list != NULL) sum_collect(t->tree, node, list, &count);
    if (list != NULL && sum_part(t->views, sum_leaves(t->tree, t->tree->root), list, count, part, sizeof part))
        cnn_append(text, size, " (%s)", part);
    free(list);
}

/* " over ic, kh": of the first two nothing says which was first. */
static bool append_loops(const teller *t, const int *list, int count, char *text, size_t size)
{
    char loops[TEXT] = "";
    int *order = malloc((size_t)count * sizeof *order);
    if (order == NULL) return false;
    for (int i = 0; i < count; i++) order[i] = sum_tree_least(t->tree, list[i]);
    bool found = sum_loops(t->views, order, count, loops, sizeof loops);
    if (!found) {
        const int first = order[0];
        order[0] = order[1], order[1] = first, loops[0] = '\0';
        found = sum_loops(t->views, order, count, loops, sizeof loops);
    }
    if (found) cnn_append(text, size, " over %s", loops);
    free(order);
    return found;
}

static void tell_sequence(teller *t, const sum_parts *p, char *text, size_t size)
{
    const int count = p->count - p->head;
    if (p->at_once > 1) cnn_append(text, size, "%d at a time, in one addition with the sum before, ", p->at_once);
    cnn_append(text, size, "in sequence");
    if (count >= 2 && !append_loops(t, p->list + p->head, count, text, size))
        cnn_append(text, size, ", in an order that no loops have");
}

static void tell_parts(teller *t, const sum_parts *p, char *text, size_t size)
{
    const int one = p->list[0], count = p->count - p->tail;
    cnn_append(text, size, "%d partial sums", count);
    append_part(t, one, text, size);
    cnn_append(text, size, ", each ");
    tell(t, one, text, size);
    if (p->tail) cnn_append(text, size, ", and one of %d", sum_leaves(t->tree, p->list[count]));
    cnn_append(text, size, "; added");
    if (p->count > 2) cnn_append(text, size, " in sequence");
    if (p->count > 2 && !p->tail) append_loops(t, p->list, count, text, size);
}

/* ---- Parts that are not alike. */

static void loops_of(const teller *t, int node, char loops[TEXT])
{
    sum_parts p = {.list = malloc((size_t)t->tree->leaves * sizeof(int))};
    loops[0] = '\0';
    if (p.list != NULL && sum_leaves(t->tree, node) > 1) {
        sum_take_apart(t->tree, node, &p);
        append_loops(t, p.list, p.count, loops, TEXT);
    }
    free(p.list);
}

/* The loops of the longest; the others may be shorter of them, or have the same. */
static void append_longest(const teller *t, const sum_sequences *u, char *text, size_t size)
{
    char longest[TEXT], loops[TEXT];
    bool same = true;
    int best = 0;
    for (int i = 1; i < u->count; i++)
        if (sum_leaves(t->tree, u->list[i]) > sum_leaves(t->tree, u->list[best])) best = i;
    loops_of(t, u->list[best], longest);
    for (int i = 0; i < u->count; i++) {
        loops_of(t, u->list[i], loops);
        same = same && strcmp(loops, longest) == 0;
    }
    if (longest[0] != '\0') cnn_append(text, size, "%s%s", same ? "" : ", the longest", longest);
}

static void tell_uneven(teller *t, int node, char *text, size_t size)
{
    sum_sequences u = {.list = malloc((size_t)t->tree->leaves * sizeof(int)), .binary = true};
    t->regular = t->regular && u.list != NULL;
    if (u.list == NULL) return;
    const int depth = sum_take_sequences(t->tree, node, &u);
    int least = 0;
    while (1 << least < u.count) least++;
    const bool chain = depth == u.count - 1, pairs = u.count >= 4 && depth == least;
    if (u.binary && u.most > 1 && (chain || pairs)) {
        cnn_append(text, size, "%d partial sums of %d to %d products, each in sequence", u.count, u.least, u.most);
        append_longest(t, &u, text, size);
        cnn_append(text, size, "; added %s", pairs ? "pairwise" : "in sequence");
    } else {
        t->regular = false;
        cnn_append(text, size, "in a tree of no known pattern, %d additions deep", sum_tree_depth(t->tree, node));
    }
    free(u.list);
}

/* A head of many and single products behind it, as vectors and what is left over; or parts that are alike. */
static void tell_chain(teller *t, int node, char *text, size_t size)
{
    sum_parts p = {.list = malloc((size_t)t->tree->leaves * sizeof(int))};
    t->regular = t->regular && p.list != NULL;
    if (p.list == NULL) return;
    sum_take_apart(t->tree, node, &p);
    const bool single = p.count > 1 && sum_leaves(t->tree, p.list[p.head]) == 1;
    if (!sum_even(t->tree, &p) || p.count < 2 || (p.head && !single)) {
        tell_uneven(t, node, text, size);
    } else if (single) {
        if (p.head) tell(t, p.list[0], text, size);
        if (p.head) cnn_append(text, size, "; then %d more ", p.count - 1);
        tell_sequence(t, &p, text, size);
    } else {
        tell_parts(t, &p, text, size);
    }
    free(p.list);
}

static void tell_pairs(teller *t, int node, int depth, char *text, size_t size)
{
    const int one = sum_at_depth(t->tree, node, depth);
    cnn_append(text, size, "%d partial sums", 1 << depth);
    append_part(t, one, text, size);
    cnn_append(text, size, ", each ");
    tell(t, one, text, size);
    cnn_append(text, size, "; added pairwise");
}

static void tell(teller *t, int node, char *text, size_t size)
{
    const sum_tree *tree = t->tree;
    const int children = sum_tree_children(tree, node), depth = sum_halvings(tree, node);
    if (children == 0)
        cnn_append(text, size, "a product");
    else if (children > 2 && sum_tree_depth(tree, node) == 1)
        cnn_append(text, size, "in one addition of %d", children);
    else if (sum_is_pairwise(tree, node)) {
        cnn_append(text, size, "pairwise");
        append_part(t, sum_largest(tree, node), text, size);
    } else if (depth >= 2)
        tell_pairs(t, node, depth, text, size);
    else
        tell_chain(t, node, text, size);
}

bool sum_shape(const sum_tree *tree, const sum_views *views, char *text, size_t size)
{
    teller t = {tree, views, true};
    text[0] = '\0';
    tell(&t, tree->root, text, size);
    return t.regular;
}

/* ---- A bias. */

static int sibling(const sum_tree *t, int node)
{
    const int first = t->nodes[t->nodes[node].parent].first;
    return first == node ? t->nodes[first].next : first;
}

/* It is added to the first of several partial sums that are alike. */
static bool begins(const sum_tree *t, int addend)
{
    const int parent = t->nodes[addend].parent;
    if (parent == t->root || sum_tree_children(t, parent) != 2) return false;
    return sum_tree_shape(t, sibling(t, addend)) == sum_tree_shape(t, sibling(t, parent));
}

void sum_place(const sum_tree *tree, int addend, int products, char *text, size_t size)
{
    const int parent = tree->nodes[addend].parent, least = parent < 0 ? addend : sum_tree_least(tree, parent);
    const int others = parent < 0 ? 0 : sum_leaves(tree, parent) - 1;
    if (parent == tree->root && others > 1)
        snprintf(text, size, "last");
    else if ((others == 1 && least < products) || begins(tree, addend))
        snprintf(text, size, "first");
    else if (others == 1)
        snprintf(text, size, "with the other addend, before all products");
    else if (sum_tree_children(tree, parent) > 2)
        snprintf(text, size, "in one addition with others, after which the sum has %d addends", others + 1);
    else
        snprintf(text, size, "after %d products", others);
}
