/* summation.c: all that there is to find out of a sum, one after the other. */
#include "summation.h"

#include "harness/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the addends come in, and the order of the products without them. */
static cnn_status name_order(const sum_kernel *kernel, const sum_tree *tree, const sum_axes *axes, sum_findings *found,
                             cnn_error *err)
{
    sum_tree rest;
    sum_views views;
    cnn_status status = sum_tree_copy(tree, &rest, err);
    if (status != CNN_OK) return status;
    status = sum_views_open(&views, axes, kernel->products, err);
    for (int i = kernel->addends - 1; i >= 0; i--) {
        sum_place(&rest, kernel->products + i, kernel->products, found->place[i], sizeof found->place[i]);
        sum_tree_remove(&rest, kernel->products + i);
    }
    if (status == CNN_OK) {
        found->regular = sum_shape(&rest, &views, found->order, sizeof found->order);
        sum_views_free(&views);
    }
    sum_tree_free(&rest);
    return status;
}

cnn_status sum_find_order(const sum_kernel *kernel, const sum_axes *axes, uint64_t seed, sum_tree *tree,
                          sum_findings *found, cnn_error *err)
{
    found->products = kernel->products;
    found->addends = kernel->addends;
    cnn_status status = sum_order(kernel, seed, tree, &found->runs, err);
    if (status != CNN_OK) return status;
    sum_tree_text(tree, found->tree, sizeof found->tree);
    status = name_order(kernel, tree, axes, found, err);
    if (status != CNN_OK) sum_tree_free(tree);
    return status;
}

cnn_status sum_find(const sum_kernel *kernel, const sum_axes *axes, uint64_t seed, sum_tree *tree, sum_findings *found,
                    cnn_error *err)
{
    memset(found, 0, sizeof *found);
    cnn_status status = sum_find_order(kernel, axes, seed, tree, found, err);
    if (status != CNN_OK) return status;
    status = sum_arithmetic(kernel, tree, found, err);
    if (status == CNN_OK) status = sum_foretell(kernel, tree, seed, found, err);
    if (status != CNN_OK) sum_tree_free(tree);
    return status;
}

/* Where the last addend comes in, and what else is otherwise than without it. */
static void put_changes(const sum_findings *before, const sum_findings *with, int addends, char *text, size_t size)
{
    cnn_append(text, size, "%s", with->place[addends - 1]);
    if (strcmp(with->order, before->order) != 0) cnn_append(text, size, ", in another order: %s", with->order);
    if (addends > 1 && strcmp(with->place[0], before->place[0]) != 0)
        cnn_append(text, size, ", and the bias then %s", with->place[0]);
}

cnn_status sum_find_more(const sum_kernel *kernel, const sum_axes *axes, uint64_t seed, const sum_tree *before,
                         sum_findings *found, cnn_error *err)
{
    const size_t size = sizeof found->beta;
    int beside;
    cnn_status status = sum_order_more(kernel, before, seed, &beside, &found->runs, err);
    if (status == CNN_OK) {
        const int leaves = before->nodes[beside].leaves;
        if (beside == before->root || leaves == 1)
            snprintf(found->beta, size, "%s", leaves == 1 ? "first" : "last");
        else
            snprintf(found->beta, size, "after %d addends", leaves);
    }
    if (status != CNN_UNSUPPORTED) return status;
    sum_findings *other = calloc(1, sizeof *other); /* all else is not as it was: found anew */
    sum_tree tree;
    if (other == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for what a sum shows");
    status = sum_find_order(kernel, axes, seed, &tree, other, err);
    if (status == CNN_OK) sum_tree_free(&tree);
    if (status == CNN_OK) put_changes(found, other, kernel->addends, found->beta, size);
    if (status == CNN_UNSUPPORTED) snprintf(found->beta, size, "cannot tell: %.400s", err->message);
    found->runs += other->runs;
    free(other);
    return status == CNN_UNSUPPORTED ? CNN_OK : status;
}
