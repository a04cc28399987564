/* share.c: who of the ranks takes which images. Each takes as many of every step: then all take as many steps, and the
 * mean over a global batch is that of the ranks' sums. */
#include "trainer_parts.h"

static cnn_status check_part(const trainer *t, const char *what, int64_t count, cnn_error *err)
{
    const int64_t size = rank_size(t->params.ranks), less = count / size * size;
    if (count % size == 0) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                    "%lld %s images cannot be shared out evenly among %lld ranks: %lld could (--images TRAIN,TEST)",
                    (long long)count, what, (long long)size, (long long)less);
}

/* Batch norm's mean and variance would be of a rank's images: another network than that of one process. */
static cnn_status check_layers(const trainer *t, cnn_error *err)
{
    for (int l = 0; l < t->net->n_layers; l++)
        if (t->net->layers[l].problem.op == CNN_OP_BATCHNORM)
            return CNN_FAIL(
                err, CNN_UNSUPPORTED,
                "%s of network %s takes its statistics over a batch, and each of %d ranks has but a part of "
                "it: train it without ranks",
                t->net->layers[l].name, t->net->name, rank_size(t->params.ranks));
    return CNN_OK;
}

static cnn_status check_way(const trainer *t, cnn_error *err)
{
    if (t->algorithm != NULL)
        return CNN_FAIL(
            err, CNN_UNSUPPORTED,
            "trainer %s:%s makes steps that are one piece, in which %d ranks cannot add up their gradients: "
            "single operations can (cpu:direct, cuda_naive ...)",
            t->session->impl->name, t->algorithm->name, rank_size(t->params.ranks));
    if (t->params.profile) return CNN_FAIL(err, CNN_UNSUPPORTED, "a profile is of one process: train without ranks");
    return CNN_OK;
}

cnn_status trainer_share_check(const trainer *t, cnn_error *err)
{
    if (rank_size(t->params.ranks) == 1) return CNN_OK;
    cnn_status status = check_part(t, "training", trainer_part(t, TRAIN)->count, err);
    if (status == CNN_OK) status = check_part(t, "test", trainer_part(t, TEST)->count, err);
    if (status == CNN_OK) status = check_layers(t, err);
    return status == CNN_OK ? check_way(t, err) : status;
}

/* In place, from the front: an image comes from behind where it goes, or stays. */
void trainer_share_order(trainer *t, int set)
{
    const int64_t size = rank_size(t->params.ranks), rank = rank_number(t->params.ranks), share = t->net->batch;
    const bool moved = set == TRAIN && t->shifts != NULL;
    for (int64_t i = 0; size > 1 && i < t->count[set]; i++) {
        const int64_t first = i / share * share, left = t->count[set] - first, part = left < share ? left : share;
        const int64_t from = first * size + rank * part + (i - first); /* of all images, in the order of one process */
        t->order[set][i] = t->order[set][from];
        if (moved) t->shifts[i] = t->shifts[from];
    }
}
