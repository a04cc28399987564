/* share.c: who of the ranks takes which images. Each takes as many of every step: then all take as many steps, and the
 * mean over a global batch is that of the ranks' sums. */
#include "harness/base/clock.h"
#include "harness/device/group.h"
#include "trainer_parts.h"

#include <math.h>
#include <stdlib.h>

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

cnn_status trainer_share_supported(const cnn_session *session, const cnn_algorithm *algorithm, const ranks *r,
                                   cnn_error *err)
{
    const int size = rank_size(r);
    if (size == 1 || algorithm == NULL || algorithm->flags & CNN_ALGO_RANKS) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "trainer %s:%s makes steps that are one piece, in which %d ranks cannot add up their gradients: "
                    "cpu:fused and single operations can (cpu:direct, cuda_naive ...)",
                    session->impl->name, algorithm->name, size);
}

static cnn_status check_way(const trainer *t, cnn_error *err)
{
    if (t->params.profile) return CNN_FAIL(err, CNN_UNSUPPORTED, "a profile is of one process: train without ranks");
    if (t->params.bucket > 0 && t->algorithm == NULL && !cnn_group_overlaps(t->session))
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "%s has gradients in memory of its own, and adds them up in one sum a step: --bucket is for "
                        "memory of the host",
                        t->session->impl->name);
    return trainer_share_supported(t->session, t->algorithm, t->params.ranks, err);
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

cnn_status trainer_share_sum(void *user, void *numbers, int64_t count, cnn_dtype dtype, cnn_error *err)
{
    trainer *t = user;
    const double start = cnn_now();
    const cnn_status status = ranks_sum(t->params.ranks, numbers, count, dtype, err);
    const double took = cnn_now() - start;
    t->comm_s += took;
    t->comm_flight_s += took;
    t->comm_bytes = (size_t)count * cnn_dtype_size(dtype);
    return status;
}

/* Of a sum alone, when all ranks have come to it. */
cnn_status trainer_share_measure(trainer *t, cnn_error *err)
{
    enum { WARM_UPS = 5 };
    const cnn_dtype dtype = cnn_params_dtype(t->net);
    double times[TRAINER_SUMS_TIMED];
    cnn_status status = CNN_OK;
    void *numbers = calloc(t->comm_bytes + 1, 1);
    if (numbers == NULL) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to time a sum over ranks");
    status = ranks_agree(t->params.ranks, status, err);
    for (int i = -WARM_UPS; i < TRAINER_SUMS_TIMED && status == CNN_OK; i++) {
        status = ranks_barrier(t->params.ranks, err);
        const double start = cnn_now();
        if (status == CNN_OK)
            status = ranks_sum(t->params.ranks, numbers, (int64_t)(t->comm_bytes / cnn_dtype_size(dtype)), dtype, err);
        if (i >= 0) times[i] = cnn_now() - start;
    }
    free(numbers);
    t->comm_alone_s = status == CNN_OK ? trainer_share_median(times) : NAN;
    return status;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double trainer_share_median(double times[TRAINER_SUMS_TIMED])
{
    qsort(times, TRAINER_SUMS_TIMED, sizeof *times, by_size);
    return times[TRAINER_SUMS_TIMED / 2];
}
