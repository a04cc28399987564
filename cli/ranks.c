/* ranks.c: see ranks.h. */
#include "ranks.h"

#include "bench/measure/clocks.h"
#include "harness/base/text.h"
#include "harness/cpu/limits.h"
#include "harness/record/identity.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

cnn_status cli_ranks_alike(ranks *r, const char *what, const void *mine, size_t bytes, const char *advice,
                           cnn_error *err)
{
    int other;
    cnn_status status = ranks_compare(r, mine, bytes, &other, err);
    if (status != CNN_OK || other < 0) return status;
    status = CNN_FAIL(err, CNN_BAD_ARGUMENT, "rank %d of %d has %s than rank 0: %s", other, r->size, what, advice);
    return ranks_agree(r, status, err);
}

/* Before anything is opened. */
static cnn_status check_alike(ranks *r, const cli_options *o, cnn_error *err)
{
    char build[BUILD_ID_MAX] = "", line[sizeof o->command_line] = "";
    cnn_build_id(o->plugin.items, o->plugin.count, build);
    snprintf(line, sizeof line, "%s", o->command_line);
    cnn_status status = cli_ranks_alike(r, "another benchcnn, or other plug-ins,", build, sizeof build,
                                        "start the same file on all hosts", err);
    if (status == CNN_OK)
        status = cli_ranks_alike(r, "another MPI", r->library, sizeof r->library, "load the same on all hosts", err);
    if (status == CNN_OK)
        status = cli_ranks_alike(r, "other options", line, sizeof line, "give all ranks the same", err);
    return status;
}

/* Open MPI binds two ranks to a core each, however many there are, unless it is told otherwise. */
static void say_binding(const ranks *r, const cli_options *o, int threads)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN), used = (long)threads * r->local_size;
    if (o->quiet || cli_given(o, "threads") || 2 * used > cores || 2 * used > cgroup_cpus("")) return;
    fprintf(
        stderr,
        "the launcher binds the %d rank%s of this host to %ld of its %ld cores: mpirun --bind-to none leaves all of "
        "them to be shared out\n",
        r->local_size, r->local_size == 1 ? "" : "s", used, cores);
}

/* The ranks of its host are counted without it. */
static void leave_out_giver(ranks *r)
{
    if (r->size == 1) return;
    if (r->node == 0) r->local_size--, r->local_rank--;
    if (r->rank == 0) r->node = -1, r->local_rank = 0, r->local_size = 1; /* a host of its own */
}

static cnn_status open_ranks(const cli_options *options, bool gives, cli_options *own, ranks **result, cnn_error *err)
{
    cnn_status status = ranks_open(result, err);
    ranks *r = *result;
    int threads;
    if (status != CNN_OK || r == NULL) return status;
    if (gives) leave_out_giver(r);
    *own = *options;
    if (r->rank > 0) status = fall_silent(own, err);
    if (status == CNN_OK && own->isolate)
        status =
            CNN_FAIL(err, CNN_UNSUPPORTED, "--isolate has no use over ranks: the launcher ends all when one is lost");
    if (status == CNN_OK && own->threads_list != NULL && strchr(own->threads_list, ',') != NULL)
        status =
            CNN_FAIL(err, CNN_UNSUPPORTED,
                     "--threads %.64s: over ranks it is one number, by which cores are shared out", own->threads_list);
    status = ranks_agree(r, status, err);
    if (status == CNN_OK) status = check_alike(r, own, err);
    if (status == CNN_OK) status = ranks_place(r, (int)own->threads, &threads, err);
    if (status != CNN_OK) return status;
    if (!gives) say_binding(r, own, threads);
    own->threads = threads;
    if (!cli_given(own, "device")) own->device = r->local_rank;
    return CNN_OK;
}

cnn_status cli_ranks_open(const cli_options *options, cli_options *own, ranks **result, cnn_error *err)
{
    return open_ranks(options, false, own, result, err);
}

cnn_status cli_ranks_open_giver(const cli_options *options, cli_options *own, ranks **result, cnn_error *err)
{
    return open_ranks(options, true, own, result, err);
}

void cli_ranks_abort(ranks *r, cnn_status status, const cnn_error *err)
{
    char shown[4 * CNN_MESSAGE_MAX];
    if (status == CNN_OK || rank_size(r) == 1 || r->agreed) return;
    fflush(stdout);
    dprintf(STDERR_FILENO, "benchcnn: rank %d of %d: %s\n", r->rank, r->size,
            cnn_visible(err->message, shown, sizeof shown));
    r->calls->abort(r, status == CNN_INTERRUPTED ? 130 : EXIT_FAILED);
}

/* "host: NVIDIA H100 80GB HBM3 0000:3b:00.0" */
static void describe_device(const cnn_session *session, char *text, size_t size)
{
    char host[CNN_NAME_MAX] = "", name[CNN_NAME_MAX], bus[CNN_NAME_MAX];
    (void)gethostname(host, sizeof host - 1);
    machine_name(session, name, sizeof name);
    machine_fact(session, "pci_bus_id", bus, sizeof bus);
    snprintf(text, size, "%.63s: %.80s%s%s", host, name, bus[0] != '\0' ? " " : "",
             bus); /* the bus whole: it tells apart */
}

static cnn_status check_apart(const ranks *r, const record_pair *all, cnn_error *err)
{
    for (int i = 0; i < r->size; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(all[i].value, all[k].value) == 0)
                return CNN_FAIL(
                    err, CNN_BAD_ARGUMENT,
                    "ranks %d and %d are both on %.200s, and NCCL takes one rank a GPU: start as many ranks as "
                    "there are GPUs, and leave out --device",
                    k, i, all[i].value);
    return CNN_OK;
}

cnn_status cli_ranks_devices(ranks *r, const cnn_session *session, record_pair **result, cnn_error *err)
{
    record_pair mine;
    *result = NULL;
    if (r == NULL) return CNN_OK;
    memset(&mine, 0, sizeof mine); /* all of it is sent */
    snprintf(mine.key, sizeof mine.key, "%d", r->rank);
    describe_device(session, mine.value, sizeof mine.value);
    record_pair *all = *result = calloc((size_t)r->size, sizeof *all);
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d ranks", r->size);
    cnn_status status = ranks_gather(r, &mine, sizeof mine, all, err);
    if (status == CNN_OK && session->impl->comms != NULL) status = check_apart(r, all, err);
    return ranks_agree(r, status, err);
}
