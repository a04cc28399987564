/* trainer.c: opening (plans and the memory plan), starting (the one allocation, data, parameters), closing. */
#include "harness/cpu/limits.h"
#include "harness/device/call.h"
#include "harness/device/group.h"
#include "harness/problem/names.h"
#include "trainer_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

cnn_status trainer_fits(const cnn_net *net, const dataset *d, cnn_error *err)
{
    const cnn_value *x = &net->values[0];
    if (d->c != x->c || d->h != x->h || d->w != x->w)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "network %s takes images of %lld x %lld x %lld, but those of %s are %lld x %lld x %lld",
                        net->name, (long long)x->c, (long long)x->h, (long long)x->w, d->name, (long long)d->c,
                        (long long)d->h, (long long)d->w);
    if (d->classes <= net->classes) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "network %s tells %lld classes apart, but %s has %lld", net->name,
                    (long long)net->classes, d->name, (long long)d->classes);
}

static cnn_status check_data(const trainer *t, cnn_error *err)
{
    const dataset *d = t->data;
    const cnn_status status = trainer_fits(t->net, d, err);
    const long long size = rank_size(t->params.ranks);
    if (status != CNN_OK || t->net->batch <= t->count[TRAIN]) return status;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "batch %lld is larger than the %lld training images of %s",
                    (long long)t->net->batch * size, (long long)d->train.count, d->name);
}

static cnn_status check_shift(const trainer *t, cnn_error *err)
{
    const cnn_value *x = &t->net->values[0];
    const int64_t side = x->h < x->w ? x->h : x->w, most = side - 1 < INT16_MAX ? side - 1 : INT16_MAX;
    const cnn_impl *impl = t->session->impl;
    if (t->params.shift < 0 || t->params.shift > most)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--shift %lld: images of %lld x %lld pixels can be moved by 0 to %lld of them",
                        (long long)t->params.shift, (long long)x->h, (long long)x->w, (long long)most);
    if (t->params.shift > 0 && t->algorithm == NULL && !t->params.host_data && impl->ops->gather == NULL &&
        impl->memory != NULL)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "implementation %s has no gather, which moves images on its device: with --data-on host the "
                        "host does it",
                        impl->name);
    return CNN_OK;
}

/* ---- Opening ---- */

const cnn_algorithm *trainer_row(const cnn_session *session, const char *name)
{
    const cnn_impl *impl = session->impl;
    for (int i = 0; name != NULL && i < impl->n_algorithms; i++)
        if (strcmp(impl->algorithms[i].name, name) == 0 && impl->algorithms[i].ops == CNN_TRAINS)
            return &impl->algorithms[i];
    return NULL;
}

bool trainer_uses_graph(const cnn_session *session, const trainer_params *params)
{
    const cnn_impl *impl = session->impl;
    if (params->ranks != NULL && impl->comms == NULL) return false; /* the host adds up */
    return impl->capture != NULL && !params->no_graph && trainer_row(session, params->algorithm) == NULL;
}

int trainer_fused(const cnn_session *session, const cnn_network *network, const trainer_params *params)
{
    const bool single = trainer_row(session, params->algorithm) == NULL;
    return single ? composition_fused(session, &network->net, params) : 0;
}

int64_t trainer_streams(const cnn_session *session, const trainer_params *params)
{
    return params->streams > 1 && trainer_row(session, params->algorithm) == NULL ? params->streams : 0;
}

int trainer_beside(const trainer *t, int *all)
{
    *all = 0;
    return t->algorithm == NULL && t->params.streams > 1 ? composition_beside(t->own, all) : 0;
}

int64_t trainer_bucket(const cnn_session *session, const trainer_params *params)
{
    const bool able = cnn_group_overlaps(session) && trainer_row(session, params->algorithm) == NULL;
    return able && rank_size(params->ranks) > 1 ? params->bucket : 0;
}

/* By exemplars, or not at all; NULL is the composition. */
static cnn_status check_workers(const cnn_session *session, const cnn_algorithm *algorithm, int64_t batch,
                                int64_t workers, cnn_error *err)
{
    const char *impl = session->impl->name, *name = algorithm != NULL ? algorithm->name : "";
    const bool able = algorithm != NULL && algorithm->flags & CNN_ALGO_EXEMPLARS;
    if (workers < 0 || workers > batch)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%lld workers for a batch of %lld images", (long long)workers,
                        (long long)batch);
    if (able == (workers > 0)) return CNN_OK;
    if (able)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s:%s trains by exemplars only: --parallel exemplar --workers N", impl,
                        name);
    return CNN_FAIL(err, CNN_UNSUPPORTED, "%s%s%s does not train by exemplars; `benchcnn list` says which trainers do",
                    impl, name[0] != '\0' ? ":" : "", name);
}

cnn_status trainer_supported(const cnn_session *session, const cnn_network *network, const cnn_algorithm *algorithm,
                             const trainer_params *params, cnn_error *err)
{
    cnn_optimizer_desc optimizer = params->optimizer;
    optimizer.t = cnn_type_for(CNN_OP_OPTIMIZER, network->net.type);
    optimizer.count = network->net.trained_elems;
    if (params->recompute && algorithm != NULL)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "trainer %s:%s has memory of its own: --recompute is for training by single operations",
                        session->impl->name, algorithm->name);
    if (params->offload && algorithm != NULL)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "trainer %s:%s has memory of its own: --offload is for training by single operations",
                        session->impl->name, algorithm->name);
    if (params->streams > 1 && algorithm != NULL)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "trainer %s:%s makes its steps itself: --streams is for training by single operations",
                        session->impl->name, algorithm->name);
    if (params->bucket > 0 && algorithm != NULL && rank_size(params->ranks) > 1)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "trainer %s:%s adds up in the middle of its own steps: --bucket is for training by single "
                        "operations",
                        session->impl->name, algorithm->name);
    cnn_status status = trainer_share_supported(session, algorithm, params->ranks, err);
    if (status == CNN_OK) status = check_workers(session, algorithm, network->net.batch, params->workers, err);
    if (status != CNN_OK) return status;
    const cnn_trainer_request request = {.net = &network->net,
                                         .optimizer = &optimizer,
                                         .algorithm = algorithm,
                                         .knobs = session->knobs,
                                         .workers = params->workers,
                                         .ranks = rank_size(params->ranks),
                                         .rank = rank_number(params->ranks),
                                         .shifts = params->shift > 0 && !params->host_data};
    return CNN_CALL(session->impl, trainers->supports, err, session->context, &request, err);
}

static cnn_status check_offload(const trainer *t, cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    if (!t->params.offload || impl->offloads != NULL) return CNN_OK;
    if (impl->memory == NULL)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "implementation %s computes in host memory, so --offload would move nothing: --recompute "
                        "takes less memory",
                        impl->name);
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "implementation %s has no copies to host memory beside its operations (offloads of its cnn_impl), "
                    "which --offload is made of: --recompute takes less memory without",
                    impl->name);
}

static cnn_status check_streams(const trainer *t, cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    if (t->params.streams < 2) return CNN_OK;
    if (t->params.streams > 2)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%lld streams: a step is shared out to 2 at most",
                        (long long)t->params.streams);
    if (impl->streams == NULL && impl->memory == NULL)
        return CNN_FAIL(
            err, CNN_UNSUPPORTED,
            "implementation %s computes on the CPU, one operation at a time on all of its threads: --streams "
            "is for GPUs",
            impl->name);
    if (impl->streams == NULL)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "implementation %s has no second stream beside its operations (streams of its cnn_impl): leave "
                        "--streams out",
                        impl->name);
    if (t->params.profile)
        return CNN_FAIL(
            err, CNN_UNSUPPORTED,
            "a profile says what each operation took by marks on one stream, and with --streams %lld others "
            "run beside it: leave out --profile or --streams",
            (long long)t->params.streams);
    if (trainer_bucket(t->session, &t->params) > 0)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "--bucket adds up gradients in the order in which one stream makes them: leave out --bucket or "
                        "--streams");
    return CNN_OK;
}

static cnn_status ask_support(const trainer *t, cnn_error *err)
{
    if (t->params.profile && (t->algorithm->flags & CNN_ALGO_PROFILES) == 0)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "trainer %s:%s cannot be profiled: its steps are one piece",
                        t->session->impl->name, t->algorithm->name);
    return trainer_supported(t->session, t->network, t->algorithm, &t->params, err);
}

static cnn_status plan_all(trainer *t, cnn_error *err)
{
    cnn_status status = t->data != NULL ? check_data(t, err) : CNN_OK;
    if (status == CNN_OK && t->data != NULL) status = trainer_share_check(t, err);
    if (status == CNN_OK) status = check_shift(t, err);
    if (status == CNN_OK && t->algorithm != NULL) status = ask_support(t, err);
    if (status == CNN_OK && t->algorithm == NULL)
        status = check_workers(t->session, NULL, t->net->batch, t->params.workers, err);
    if (status == CNN_OK && t->algorithm == NULL) status = check_offload(t, err);
    if (status == CNN_OK && t->algorithm == NULL) status = check_streams(t, err);
    if (status != CNN_OK) return status;
    trainer_feed_place(t);
    if (t->algorithm == NULL) status = composition_open(t, err);
    if (status != CNN_OK || !t->overflow) return status;
    return CNN_FAIL(err, CNN_OVERFLOW, "%s at batch %lld: its memory is more than can be addressed", t->net->name,
                    (long long)t->net->batch);
}

/* The order of each pass, and the shifts, on the host. */
static cnn_status make_order(trainer *t, cnn_error *err)
{
    bool made = true;
    for (int set = 0; set < PASSES && t->data != NULL && made; set++)
        made = (t->order[set] = calloc((size_t)trainer_part(t, set)->count + 1, sizeof **t->order)) != NULL;
    const size_t train = t->data != NULL ? (size_t)t->data->train.count : 0;
    if (made && t->data != NULL) made = (t->next_order = calloc(train + 1, sizeof *t->next_order)) != NULL;
    if (made && t->data != NULL && t->params.shift > 0)
        made = (t->shifts = calloc(train, sizeof *t->shifts)) != NULL &&
               (t->next_shifts = calloc(train, sizeof *t->next_shifts)) != NULL;
    t->drawn = -1;
    return made ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a trainer");
}

static cnn_status make_profile(trainer *t, cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    if (!t->params.profile) return CNN_OK;
    if (t->algorithm == NULL && impl->profile == NULL)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "implementation %s cannot be profiled: it marks no phases", impl->name);
    t->profile = calloc(1, sizeof *t->profile);
    return t->profile != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a profile");
}

cnn_status trainer_open(const cnn_session *session, const cnn_network *network, const dataset *data,
                        const trainer_params *params, trainer **out, cnn_error *err)
{
    const cnn_net *net = &network->net;
    *out = NULL;
    trainer *t = calloc(1, sizeof *t);
    if (t == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a trainer");
    t->session = session;
    t->network = network;
    t->net = net;
    t->data = data;
    t->params = *params;
    t->params.host_data = params->host_data && data != NULL;
    for (int set = 0; set < PASSES && data != NULL; set++)
        t->count[set] = trainer_part(t, set)->count / rank_size(params->ranks);
    t->ahead = 4;
    t->n_lanes = t->params.host_data ? LANES : data == NULL ? 1 : 0;
    t->optimizer = params->optimizer;
    t->optimizer.t = cnn_type_for(CNN_OP_OPTIMIZER, net->type);
    if (trainer_is_mixed(t) && t->params.loss_scale <= 0.0) t->params.loss_scale = 1.0;
    t->optimizer.count = net->trained_elems;
    t->algorithm = trainer_row(session, params->algorithm);
    t->table = t->algorithm != NULL ? session->impl->trainers : &composition_trainers;
    cnn_status status = make_order(t, err);
    if (status == CNN_OK) status = make_profile(t, err);
    if (status == CNN_OK) status = plan_all(t, err);
    if (status == CNN_OK)
        *out = t;
    else
        trainer_close(t);
    return status;
}

/* ---- Starting ---- */

/* What stands in host memory (host_data) counts with the rest where the device is the host. */
static cnn_status check_memory(const trainer *t, cnn_error *err)
{
    const bool on_host = t->session->impl->memory == NULL;
    size_t host = t->bytes.host;
    if (__builtin_add_overflow(host, t->bytes.offload, &host)) host = SIZE_MAX;
    if (on_host && __builtin_add_overflow(host, t->bytes.total, &host)) host = SIZE_MAX;
    const cnn_status status = on_host ? CNN_OK : cnn_mem_check(t->session, t->bytes.total, err);
    return status == CNN_OK && host > 0 ? cnn_host_check(host, err) : status;
}

static cnn_status allocate(trainer *t, cnn_error *err)
{
    cnn_status status = check_memory(t, err);
    if (status == CNN_OK) status = cnn_mem_alloc(t->session, t->bytes.total, (void **)&t->arena, err);
    return trainer_name_error(t, "its memory", status, err);
}

/* An implementation's own: one batch of each size goes through it, so that what it does once is not an epoch's time. */
static cnn_status warm_up(trainer *t, cnn_error *err)
{
    cnn_status status = trainer_set_params(t, NULL, err);
    for (int set = 0; set < PASSES && t->data != NULL && status == CNN_OK; set++) {
        const int64_t count = t->count[set], batch = t->net->batch, left = count % batch;
        if (count >= batch) status = trainer_take(t, set, 0, batch, err);
        if (status == CNN_OK && left > 0) status = trainer_take(t, set, count - left, left, err);
    }
    return status;
}

cnn_status trainer_open_own(trainer *t, cnn_error *err)
{
    const cnn_trainer_request request = {.net = t->net,
                                         .optimizer = &t->optimizer,
                                         .algorithm = t->algorithm,
                                         .knobs = t->session->knobs,
                                         .workers = t->params.workers,
                                         .ranks = rank_size(t->params.ranks),
                                         .rank = rank_number(t->params.ranks),
                                         .sum = trainer_share_sum,
                                         .sum_user = t,
                                         .shifts = t->images[TRAIN].shifts != NULL,
                                         .loss_sum = trainer_at(t, t->loss_at),
                                         .correct = trainer_at(t, t->correct_at),
                                         .profile = t->profile != NULL};
    const cnn_impl *impl = t->session->impl;
    const cnn_status status =
        CNN_CALL(impl, trainers->open, err, t->session->context, &request, &t->own, &t->facts, err);
    if (status != CNN_OK) {
        t->own = NULL;
        return status;
    }
    t->bytes.values += t->facts.bytes;
    t->bytes.total += t->facts.bytes;
    if (t->facts.steps < 1)
        return CNN_FAIL(err, CNN_INTERNAL,
                        "trainer %s:%s set steps to %lld in its cnn_trainer_facts: it must be at least 1", impl->name,
                        t->algorithm->name, (long long)t->facts.steps);
    const cnn_status warm = warm_up(t, err);
    return warm == CNN_OK && rank_size(t->params.ranks) > 1 ? trainer_share_measure(t, err) : warm;
}

void trainer_close_own(trainer *t)
{
    if (t->own == NULL) return;
    t->table->close(t->session->context, t->own);
    (void)cnn_thread_restore();
    t->own = NULL;
    t->bytes.values -= t->facts.bytes;
    t->bytes.total -= t->facts.bytes;
    t->facts.bytes = 0;
}

cnn_status trainer_start(trainer *t, cnn_error *err)
{
    cnn_status status = allocate(t, err);
    if (status == CNN_OK) status = trainer_feed_start(t, err);
    status = ranks_agree(t->params.ranks, status, err); /* the first steps are made together */
    if (status != CNN_OK) return status;
    status = t->algorithm != NULL ? trainer_open_own(t, err) : composition_start(t, err);
    if (status == CNN_OK) status = trainer_feed_end(t, err);
    if (status != CNN_OK) return trainer_name_error(t, "preparing its steps", status, err);
    status = trainer_set_params(t, NULL, err);
    return status == CNN_OK ? cnn_sync(t->session, err) : status;
}

void trainer_close(trainer *t)
{
    cnn_error ignored; /* steps may still be under way where an epoch was interrupted */
    if (t == NULL) return;
    if (t->arena != NULL) (void)cnn_sync(t->session, &ignored);
    trainer_close_own(t);
    trainer_feed_close(t);
    cnn_mem_free(t->session, t->arena);
    profile_close(t->profile);
    for (int set = 0; set < PASSES; set++) free(t->order[set]);
    free(t->shifts);
    free(t->next_order);
    free(t->next_shifts);
    free(t);
}

/* ---- What it is like ---- */

trainer_bytes trainer_memory(const trainer *t) { return t->bytes; }
ranks *trainer_ranks(const trainer *t) { return t->params.ranks; }
trainer_comm trainer_communication(const trainer *t)
{
    if (t->algorithm == NULL) return composition_comm(t->own);
    if (t->comm_bytes == 0) return (trainer_comm){.alone_s = NAN, .way = ""};
    return (trainer_comm){.bytes = t->comm_bytes, .sums = 1, .alone_s = t->comm_alone_s, .way = "MPI"};
}
const epoch_profile *trainer_profiled(const trainer *t) { return t->profile; }

const char *trainer_algorithm(const trainer *t, int layer, cnn_dir dir)
{
    return t->algorithm == NULL                                           ? composition_algorithm(t->own, layer, dir)
           : cnn_op_dirs(&t->net->layers[layer].problem) & 1u << (int)dir ? t->algorithm->name
                                                                          : "";
}

char *trainer_choices(const trainer *t) { return t->algorithm == NULL ? composition_choices(t->own) : calloc(1, 1); }
