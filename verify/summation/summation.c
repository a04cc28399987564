/* summation.c: all that there is to find out of a sum, one after the other. */
#include "summation.h"

#include <string.h>

/* Where the addends come in, and the order of the products without them. */
static cnn_status name_order(const sum_kernel *kernel, const sum_tree *tree, const sum_axes *axes, sum_findings *found,
                             cnn_error *err)
{
    sum_tree rest;
    const cnn_status status = sum_tree_copy(tree, &rest, err);
    if (status != CNN_OK) return status;
    for (int i = kernel->addends - 1; i >= 0; i--) {
        sum_place(&rest, kernel->products + i, kernel->products, found->place[i], sizeof found->place[i]);
        sum_tree_remove(&rest, kernel->products + i);
    }
    found->regular = sum_shape(&rest, axes, found->order, sizeof found->order);
    sum_tree_free(&rest);
    return CNN_OK;
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

cnn_status sum_find(const sum_kernel *kernel, const sum_axes *axes, uint64_t seed, sum_findings *found, cnn_error *err)
{
    sum_tree tree;
    memset(found, 0, sizeof *found);
    cnn_status status = sum_find_order(kernel, axes, seed, &tree, found, err);
    if (status != CNN_OK) return status;
    status = sum_arithmetic(kernel, &tree, found, err);
    if (status == CNN_OK) status = sum_foretell(kernel, &tree, seed, found, err);
    sum_tree_free(&tree);
    return status;
}
