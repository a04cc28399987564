/* ranks.c: training over ranks: all have the same data, begin with the same weights and come to the same weights; what
 * records say of them. */
#include "parts.h"

#include <stdlib.h>
#include <zlib.h>

cnn_status train_ranks_data(const train *t, cnn_error *err)
{
    uLong crc = crc32_z(0, NULL, 0);
    if (t->ranks == NULL) return CNN_OK;
    for (int i = 0; i < 2; i++) {
        const dataset_part *part = i == 0 ? &t->data.train : &t->data.test;
        const size_t pixels = (size_t)(t->data.c * t->data.h * t->data.w), count = (size_t)part->count;
        crc = crc32_z(crc, part->images, count * pixels);
        crc = crc32_z(crc, (const Bytef *)part->labels, count * sizeof *part->labels);
    }
    return cli_ranks_alike(t->ranks, "other images or labels", &crc, sizeof crc,
                           "--data must hold the same on all hosts", err);
}

/* The weights, and how many epochs are done. */
static cnn_status compare_weights(const train_run *r, int *other, cnn_error *err)
{
    const cnn_net *net = &r->network->net;
    const size_t bytes = (size_t)net->param_elems * cnn_param_size(net);
    *other = -1;
    if (rank_size(r->all->ranks) == 1) return CNN_OK;
    void *params = calloc(1, bytes + 1);
    if (params == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the weights of %s", net->name);
    cnn_status status = trainer_get_params(r->trainer, params, err);
    const uint64_t mine[] = {crc32_z(0, params, bytes), (uint64_t)r->progress.epochs};
    free(params);
    return status == CNN_OK ? ranks_compare(r->all->ranks, mine, sizeof mine, other, err) : status;
}

cnn_status train_ranks_begin(const train_run *r, cnn_error *err)
{
    int other;
    cnn_status status = compare_weights(r, &other, err);
    if (status == CNN_OK && other >= 0)
        status =
            CNN_FAIL(err, CNN_BAD_ARGUMENT,
                     "rank %d of %d begins with other weights than rank 0: --load and --checkpoint must be the same "
                     "files on all hosts",
                     other, rank_size(r->all->ranks));
    return ranks_agree(r->all->ranks, status, err);
}

cnn_status train_ranks_end_epoch(train_run *r, cnn_error *err)
{
    int other;
    const cnn_status status = compare_weights(r, &other, err);
    if (status != CNN_OK || other < 0) return status;
    r->checked.failed = r->apart = true;
    r->checked.seed = r->check_seed;
    snprintf(r->checked.reason, sizeof r->checked.reason, "rank %d has other weights than rank 0 behind the epoch",
             other);
    return CNN_OK;
}

cnn_status train_ranks_devices(train *t, int session, cnn_error *err)
{
    if (t->ranks == NULL || t->devices[session] != NULL) return CNN_OK;
    return cli_ranks_devices(t->ranks, train_session(t, session), &t->devices[session], err);
}

/* Other ranks of the host are not other work. */
cnn_status train_ranks_clocks(train_run *r, cnn_error *err)
{
    const ranks *all = r->all->ranks;
    const double mine[] = {rank_number(all) == 0 ? 0.0 : (double)all->node, r->clocks.own_s};
    if (rank_size(all) == 1) return CNN_OK;
    double *each = calloc((size_t)all->size, sizeof mine);
    if (each == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d ranks", all->size);
    const cnn_status status = ranks_gather(r->all->ranks, mine, sizeof mine, each, err);
    for (int i = 0; i < all->size; i++)
        if (i != all->rank && each[2 * i] == mine[0]) r->clocks.own_s += each[2 * i + 1];
    free(each);
    return status;
}

cnn_status train_ranks_check_seed(train_run *r, cnn_error *err)
{
    r->check_seed = (uint64_t)r->all->options->check_seed;
    if (r->all->ranks == NULL) return CNN_OK;
    if (r->check_seed == 0) r->check_seed = verify_training_seed();
    return ranks_broadcast(r->all->ranks, &r->check_seed, sizeof r->check_seed, err);
}

void train_ranks_record(const train_run *r, const trainer_result *e, cnn_record *record)
{
    const train *t = r->all;
    const trainer_comm comm = trainer_communication(r->trainer);
    if (t->ranks == NULL) return;
    record_text_pairs(record, "rank_devices", t->devices[r->curve->session], t->ranks->size);
    record_text(record, "rank_library", t->ranks->library);
    record_text(record, "comm_way", comm.way);
    record_int(record, "comm_bytes", (int64_t)comm.bytes);
    record_int(record, "comm_sums", comm.sums);
    record_real(record, "comm_step_s", e->comm_s / (double)e->steps);
    record_real(record, "comm_flight_s", e->comm_flight_s / (double)e->steps);
    record_real(record, "comm_alone_s", comm.alone_s);
}

void train_ranks_close(train *t)
{
    for (int i = 0; i < TRAIN_SESSIONS; i++) free(t->devices[i]);
    ranks_close(t->ranks);
}
