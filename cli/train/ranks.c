/* ranks.c: training over ranks: rank 0 speaks and writes, each has cores and a device of its own, and all must be
 * alike: program, options, data, weights. */
#include "harness/base/text.h"
#include "harness/cpu/limits.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* ---- Opening. */

/* The others' standard output and messages go nowhere; what ends them is said by train_ranks_abort(). File descriptor 2
 * stays as it is, for sanitizers and for libraries that abort. */
static cnn_status fall_silent(cli_options *o, cnn_error *err)
{
    FILE *nowhere = fopen("/dev/null", "we");
    if (nowhere == NULL) return CNN_FAIL(err, CNN_IO, "/dev/null cannot be opened");
    fflush(stdout);
    stdout = stderr = nowhere;
    o->out = o->save = NULL;
    o->records = NULL;
    o->json = false;
    o->quiet = true;
    return CNN_OK;
}

static cnn_status compare(const train *t, const char *what, const void *mine, size_t bytes, const char *advice,
                          cnn_error *err)
{
    int other;
    const cnn_status status = ranks_compare(t->ranks, mine, bytes, &other, err);
    if (status != CNN_OK || other < 0) return status;
    return ranks_agree(
        t->ranks,
        CNN_FAIL(err, CNN_BAD_ARGUMENT, "rank %d of %d has %s than rank 0: %s", other, t->ranks->size, what, advice),
        err);
}

/* Before anything is opened. */
static cnn_status check_alike(const train *t, cnn_error *err)
{
    char build[BUILD_ID_MAX] = "", line[sizeof t->own.command_line] = "";
    cnn_build_id(t->own.plugin.items, t->own.plugin.count, build);
    snprintf(line, sizeof line, "%s", t->own.command_line);
    cnn_status status = compare(t, "another benchcnn, or other plug-ins,", build, sizeof build,
                                "start the same file on all hosts", err);
    if (status == CNN_OK)
        status =
            compare(t, "another MPI", t->ranks->library, sizeof t->ranks->library, "load the same on all hosts", err);
    if (status == CNN_OK) status = compare(t, "other options", line, sizeof line, "give all ranks the same", err);
    return status;
}

/* Open MPI binds two ranks to a core each, however many there are, unless it is told otherwise. */
static void say_binding(const train *t, int threads)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN), used = (long)threads * t->ranks->local_size;
    if (t->own.quiet || cli_given(&t->own, "threads") || 2 * used > cores || 2 * used > cgroup_cpus("")) return;
    fprintf(
        stderr,
        "the launcher binds the %d rank%s of this host to %ld of its %ld cores: mpirun --bind-to none leaves all of "
        "them to be shared out\n",
        t->ranks->local_size, t->ranks->local_size == 1 ? "" : "s", used, cores);
}

cnn_status train_ranks_open(train *t, cnn_error *err)
{
    cnn_status status = ranks_open(&t->ranks, err);
    int threads;
    if (status != CNN_OK || t->ranks == NULL) return status;
    t->own = *t->options;
    t->options = &t->own;
    if (t->ranks->rank > 0) status = fall_silent(&t->own, err);
    if (status == CNN_OK && t->own.isolate)
        status =
            CNN_FAIL(err, CNN_UNSUPPORTED, "--isolate has no use over ranks: the launcher ends all when one is lost");
    status = ranks_agree(t->ranks, status, err);
    if (status == CNN_OK) status = check_alike(t, err);
    if (status == CNN_OK) status = ranks_place(t->ranks, (int)t->own.threads, &threads, err);
    if (status == CNN_OK) say_binding(t, threads);
    if (status == CNN_OK) t->own.threads = threads;
    if (!cli_given(&t->own, "device")) t->own.device = t->ranks->local_rank;
    return status;
}

void train_ranks_abort(const train *t, cnn_status status, const cnn_error *err)
{
    char shown[4 * CNN_MESSAGE_MAX];
    if (status == CNN_OK || rank_size(t->ranks) == 1 || t->ranks->agreed) return;
    fflush(stdout);
    dprintf(STDERR_FILENO, "benchcnn: rank %d of %d: %s\n", t->ranks->rank, t->ranks->size,
            cnn_visible(err->message, shown, sizeof shown));
    t->ranks->calls->abort(t->ranks, status == CNN_INTERRUPTED ? 130 : EXIT_FAILED);
}

/* ---- What must be alike later. */

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
    return compare(t, "other images or labels", &crc, sizeof crc, "--data must hold the same on all hosts", err);
}

/* The weights, and how many epochs are done. */
static cnn_status compare_weights(const train_run *r, int *other, cnn_error *err)
{
    const cnn_net *net = &r->network->net;
    const size_t bytes = (size_t)net->param_elems * cnn_dtype_size(net->type.dtype);
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

/* ---- Devices, clocks, seeds. */

/* "host: NVIDIA H100 80GB HBM3 0000:3b:00.0" */
static void describe_device(const cnn_session *session, char *text, size_t size)
{
    char host[CNN_NAME_MAX] = "", name[CNN_NAME_MAX], bus[CNN_NAME_MAX];
    (void)gethostname(host, sizeof host - 1);
    machine_name(session, name, sizeof name);
    machine_fact(session, "pci_bus_id", bus, sizeof bus);
    snprintf(text, size, "%s: %s%s%s", host, name, bus[0] != '\0' ? " " : "", bus);
}

cnn_status train_ranks_devices(train *t, int session, cnn_error *err)
{
    const cnn_session *s = &t->sessions.list[session];
    const int size = rank_size(t->ranks);
    record_pair mine;
    if (t->ranks == NULL || t->devices[session] != NULL) return CNN_OK;
    memset(&mine, 0, sizeof mine);
    snprintf(mine.key, sizeof mine.key, "%d", t->ranks->rank);
    describe_device(s, mine.value, sizeof mine.value);
    record_pair *all = t->devices[session] = calloc((size_t)size, sizeof *all);
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d ranks", size);
    cnn_status status = ranks_gather(t->ranks, &mine, sizeof mine, all, err);
    for (int i = 0; i < size && s->impl->comms != NULL && status == CNN_OK; i++)
        for (int k = 0; k < i && status == CNN_OK; k++)
            if (strcmp(all[i].value, all[k].value) == 0)
                status =
                    CNN_FAIL(err, CNN_BAD_ARGUMENT,
                             "ranks %d and %d are both on %.200s, and NCCL takes one rank a GPU: start as many ranks "
                             "as there are GPUs, and leave out --device",
                             k, i, all[i].value);
    return ranks_agree(t->ranks, status, err);
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
    record_real(record, "comm_step_s", e->comm_s / (double)e->steps);
    record_real(record, "comm_alone_s", comm.alone_s);
}

void train_ranks_close(train *t)
{
    for (int i = 0; i < CNN_MAX_CHOICES; i++) free(t->devices[i]);
    ranks_close(t->ranks);
}
