/* parts.c: see parts.h. */
#include "parts.h"

int sum_largest(const sum_tree *t, int node)
{
    int best = t->nodes[node].first;
    for (int child = best; child >= 0; child = t->nodes[child].next)
        if (sum_leaves(t, child) > sum_leaves(t, best)) best = child;
    return best;
}

static bool alike(const sum_tree *t, int node)
{
    const int first = t->nodes[node].first;
    for (int child = first; child >= 0; child = t->nodes[child].next)
        if (sum_leaves(t, child) != sum_leaves(t, first) || sum_tree_shape(t, child) != sum_tree_shape(t, first))
            return false;
    return true;
}

/* Adds the children of a node but one, by the numbers of their leaves, the highest first. */
static void take_children(const sum_tree *t, int node, int but, sum_parts *p)
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
void sum_take_apart(const sum_tree *t, int node, sum_parts *p)
{
    uint64_t shape = 0;
    *p = (sum_parts){.list = p->list, .at_once = 1};
    for (int level = 0, from = 0; p->count < t->leaves; level++, from = p->count) {
        const int down = sum_largest(t, node);
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
        if (level == 1 && now != shape && sum_leaves(t, p->list[from]) > sum_leaves(t, p->list[from - 1]))
            p->tail = true;
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
bool sum_even(const sum_tree *t, const sum_parts *p)
{
    for (int i = p->head; i + 1 < p->count - p->tail; i++)
        if (sum_tree_shape(t, p->list[i]) != sum_tree_shape(t, p->list[i + 1])) return false;
    return true;
}

void sum_collect(const sum_tree *t, int node, int *list, int *count)
{
    if (node < t->leaves) list[(*count)++] = node;
    for (int child = t->nodes[node].first; child >= 0; child = t->nodes[child].next) sum_collect(t, child, list, count);
}

/* ---- Pairs. */

/* How often the node falls into two that are alike. */
int sum_halvings(const sum_tree *t, int node)
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

bool sum_is_pairwise(const sum_tree *t, int node)
{
    const int leaves = sum_leaves(t, node);
    int least = 0;
    while (1 << least < leaves) least++;
    return leaves >= 4 && sum_tree_depth(t, node) == least && is_binary(t, node);
}

int sum_at_depth(const sum_tree *t, int node, int depth)
{
    while (depth-- > 0) node = t->nodes[node].first;
    return node;
}

static bool is_sequence(const sum_tree *t, int node)
{
    while (sum_tree_children(t, node) == 2) {
        const int down = sum_largest(t, node), first = t->nodes[node].first;
        const int other = first == down ? t->nodes[first].next : first;
        if (sum_leaves(t, other) > 1) return false;
        node = down;
    }
    return node < t->leaves;
}

/* Returns how deep the sequences lie. */
int sum_take_sequences(const sum_tree *t, int node, sum_sequences *u)
{
    int deepest = -1;
    const int leaves = sum_leaves(t, node);
    if (is_sequence(t, node)) {
        u->least = u->count == 0 || leaves < u->least ? leaves : u->least;
        u->most = leaves > u->most ? leaves : u->most;
        u->list[u->count++] = node;
        return 0;
    }
    u->binary = u->binary && sum_tree_children(t, node) == 2;
    for (int child = t->nodes[node].first; child >= 0; child = t->nodes[child].next) {
        const int depth = sum_take_sequences(t, child, u);
        if (depth > deepest) deepest = depth;
    }
    return deepest + 1;
}
