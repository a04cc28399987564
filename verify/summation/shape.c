/* shape.c: a tree in words. It is taken apart from the root: down the side of the largest subtree, what is added on the
 * way are the parts of a sequence; where both sides are alike all the way down, it is pairwise. Each part is then told
 * alike. */
#include "shape.h"

#include "harness/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 256 };

/* What a node is the sum of, in the order of adding: perhaps a head that is like no other, parts that are alike, and
 * perhaps a last part that is smaller. */
typedef struct parts {
    int *list, count;
    int at_once; /* added in one addition to the sum before: 1, or more in a fused adder */
    bool head, tail;
} parts;

typedef struct teller {
    const sum_tree *tree;
    const sum_views *views;
    bool regular;
} teller;

static void tell(teller *t, int node, char *text, size_t size);

static int leaves_of(const sum_tree *t, int node) { return t->nodes[node].leaves; }

static int largest(const sum_tree *t, int node)
{
    int best = t->nodes[node].first;
    for (int child = best; child >= 0; child = t->nodes[child].next)
        if (leaves_of(t, child) > leaves_of(t, best)) best = child;
    return best;
}

static bool alike(const sum_tree *t, int node)
{
    const int first = t->nodes[node].first;
    for (int child = first; child >= 0; child = t->nodes[child].next)
        if (leaves_of(t, child) != leaves_of(t, first) || sum_tree_shape(t, child) != sum_tree_shape(t, first))
            return false;
    return true;
}

/* Adds the children of a node but one, by the numbers of their leaves, the highest first. */
static void take_children(const sum_tree *t, int node, int but, parts *p)
{
    const int from = p->count;
    for (int child = t->nodes[node].first; child >= 0; child = t->nodes[child].next) {
        int at = p->count;
        if (child == but) continue;
        for (; at > from && sum_tree_least(t, p->list[at - 1]) < sum_tree_least(t, child); at--)
            p->list[at] = p->list[at - 1];
        p->list[at] = child;
        p->count++;
    }
}

static void reverse(int *list, int count)
{
    for (int i = 0; i < count / 2; i++) {
        const int other = list[i];
        list[i] = list[count - 1 - i];
        list[count - 1 - i] = other;
    }
}

/* From the root of the node down. A part that differs from those above it is the end: the head. */
static void take_apart(const sum_tree *t, int node, parts *p)
{
    uint64_t shape = 0;
    *p = (parts){.list = p->list, .at_once = 1};
    for (int level = 0, from = 0; p->count < t->leaves; level++, from = p->count) {
        const int down = largest(t, node);
        if (down < 0 || (level > 0 && sum_tree_shape(t, node) == shape)) {
            p->list[p->count++] = node;
            break;
        }
        if (alike(t, node)) {
            const uint64_t theirs = sum_tree_shape(t, down);
            p->head = level > 0 && theirs != shape;
            if (p->head) p->list[p->count++] = node;
            if (!p->head) take_children(t, node, -1, p);
            break;
        }
        const int at_once = sum_tree_children(t, node) - 1;
        take_children(t, node, down, p);
        const uint64_t now = sum_tree_shape(t, p->list[from]);
        if (level == 1 && now != shape && leaves_of(t, p->list[from]) > leaves_of(t, p->list[from - 1])) p->tail = true;
        if (level > 0 && now != shape && !(level == 1 && p->tail)) {
            p->count = from;
            p->list[p->count++] = node;
            p->head = true;
            break;
        }
        shape = now, p->at_once = at_once, node = down;
    }
    reverse(p->list, p->count);
}

/* All of the parts between head and tail have one shape. */
static bool even(const sum_tree *t, const parts *p)
{
    for (int i = p->head; i + 1 < p->count - p->tail; i++)
        if (sum_tree_shape(t, p->list[i]) != sum_tree_shape(t, p->list[i + 1])) return false;
    return true;
}

static void collect(const sum_tree *t, int node, int *list, int *count)
{
    if (node < t->leaves) list[(*count)++] = node;
    for (int child = t->nodes[node].first; child >= 0; child = t->nodes[child].next) collect(t, child, list, count);
}

/* ---- Pairs. */

/* How often the node falls into two that are alike. */
static int halvings(const sum_tree *t, int node)
{
    int count = 0;
    while (sum_tree_children(t, node) == 2 && alike(t, node)) count++, node = t->nodes[node].first;
    return count;
}

static bool is_binary(const sum_tree *t, int node)
{
    if (node >= t->leaves && sum_tree_children(t, node) != 2) return false;
    for (int child = t->nodes[node].first; child >= 0; child = t->nodes[child].next)
        if (!is_binary(t, child)) return false;
    return true;
}

static bool is_pairwise(const sum_tree *t, int node)
{
    const int leaves = leaves_of(t, node);
    int least = 0;
    while (1 << least < leaves) least++;
    return leaves >= 4 && sum_tree_depth(t, node) == least && is_binary(t, node);
}

static int at_depth(const sum_tree *t, int node, int depth)
{
    while (depth-- > 0) node = t->nodes[node].first;
    return node;
}

/* ---- Words. */

/* " (every 8th ic)": which leaves are in a part. */
static void append_part(const teller *t, int node, char *text, size_t size)
{
    char part[TEXT];
    int count = 0, *list = malloc((size_t)leaves_of(t->tree, node) * sizeof *list);
    if (list != NULL) collect(t->tree, node, list, &count);
    if (list != NULL && sum_part(t->views, leaves_of(t->tree, t->tree->root), list, count, part, sizeof part))
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

static void tell_sequence(teller *t, const parts *p, char *text, size_t size)
{
    const int count = p->count - p->head;
    if (p->at_once > 1) cnn_append(text, size, "%d at a time, in one addition with the sum before, ", p->at_once);
    cnn_append(text, size, "in sequence");
    if (count >= 2 && !append_loops(t, p->list + p->head, count, text, size))
        cnn_append(text, size, ", in an order that no loops have");
}

static void tell_parts(teller *t, const parts *p, char *text, size_t size)
{
    const int one = p->list[0], count = p->count - p->tail;
    cnn_append(text, size, "%d partial sums", count);
    append_part(t, one, text, size);
    cnn_append(text, size, ", each ");
    tell(t, one, text, size);
    if (p->tail) cnn_append(text, size, ", and one of %d", leaves_of(t->tree, p->list[count]));
    cnn_append(text, size, "; added");
    if (p->count > 2) cnn_append(text, size, " in sequence");
    if (p->count > 2 && !p->tail) append_loops(t, p->list, count, text, size);
}

/* ---- Parts that are not alike: sequences of single products, as long as can be. */

typedef struct uneven {
    int *list, count; /* the sequences' nodes */
    int least, most;  /* how long they are */
    bool binary;
} uneven;

static bool is_sequence(const sum_tree *t, int node)
{
    while (sum_tree_children(t, node) == 2) {
        const int down = largest(t, node), first = t->nodes[node].first;
        const int other = first == down ? t->nodes[first].next : first;
        if (leaves_of(t, other) > 1) return false;
        node = down;
    }
    return node < t->leaves;
}

/* Returns how deep the sequences lie. */
static int take_sequences(const sum_tree *t, int node, uneven *u)
{
    int deepest = -1;
    const int leaves = leaves_of(t, node);
    if (is_sequence(t, node)) {
        u->least = u->count == 0 || leaves < u->least ? leaves : u->least;
        u->most = leaves > u->most ? leaves : u->most;
        u->list[u->count++] = node;
        return 0;
    }
    u->binary = u->binary && sum_tree_children(t, node) == 2;
    for (int child = t->nodes[node].first; child >= 0; child = t->nodes[child].next) {
        const int depth = take_sequences(t, child, u);
        if (depth > deepest) deepest = depth;
    }
    return deepest + 1;
}

/* All are sequences over the same loops, which are told then. */
static void append_sequence(const teller *t, const uneven *u, char *text, size_t size)
{
    char first[TEXT] = "", loops[TEXT];
    for (int i = 0; i < u->count; i++) {
        parts p = {.list = malloc((size_t)t->tree->leaves * sizeof(int))};
        loops[0] = '\0';
        if (p.list != NULL && leaves_of(t->tree, u->list[i]) > 1) {
            take_apart(t->tree, u->list[i], &p);
            append_loops(t, p.list, p.count, loops, sizeof loops);
        }
        free(p.list);
        if (i == 0) memcpy(first, loops, sizeof first);
        if (strcmp(first, loops) != 0) return;
    }
    cnn_append(text, size, "%s", first);
}

static void tell_uneven(teller *t, int node, char *text, size_t size)
{
    uneven u = {.list = malloc((size_t)t->tree->leaves * sizeof(int)), .binary = true};
    if (u.list == NULL) return;
    const int depth = take_sequences(t->tree, node, &u);
    int least = 0;
    while (1 << least < u.count) least++;
    const bool chain = depth == u.count - 1, pairs = depth == least;
    if (u.binary && u.most > 1 && (chain || pairs)) {
        cnn_append(text, size, "%d partial sums of %d to %d products, each in sequence", u.count, u.least, u.most);
        append_sequence(t, &u, text, size);
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
    parts p = {.list = malloc((size_t)t->tree->leaves * sizeof(int))};
    if (p.list == NULL) return;
    take_apart(t->tree, node, &p);
    const bool single = p.count > 1 && leaves_of(t->tree, p.list[p.head]) == 1;
    if (!even(t->tree, &p) || p.count < 2 || (p.head && !single)) {
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
    int list[1] = {at_depth(t->tree, node, depth)};
    cnn_append(text, size, "%d partial sums", 1 << depth);
    append_part(t, list[0], text, size);
    cnn_append(text, size, ", each ");
    tell(t, list[0], text, size);
    cnn_append(text, size, "; added pairwise");
}

static void tell(teller *t, int node, char *text, size_t size)
{
    const sum_tree *tree = t->tree;
    const int children = sum_tree_children(tree, node), depth = halvings(tree, node);
    if (children == 0)
        cnn_append(text, size, "a product");
    else if (children > 2 && sum_tree_depth(tree, node) == 1)
        cnn_append(text, size, "in one addition of %d", children);
    else if (is_pairwise(tree, node)) {
        cnn_append(text, size, "pairwise");
        append_part(t, largest(tree, node), text, size);
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
    const int others = parent < 0 ? 0 : leaves_of(tree, parent) - 1;
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
