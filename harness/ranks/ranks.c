/* ranks.c: whether there are ranks, and what all of them must know. */
#include "ranks.h"

#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- Opening. */

/* What launchers put into the environment of a rank: Open MPI's mpirun; srun and others by PMIx; MPICH's by PMI. */
static const struct {
    const char *rank, *size; /* size: it may not be there */
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}, {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}};

/* The row of the launcher that started this process; -1: none did. */
static int find_launcher(void)
{
    const int count = (int)(sizeof launchers / sizeof launchers[0]);
    for (int i = 0; i < count; i++)
        if (getenv(launchers[i].rank) != NULL) return i;
    return -1;
}

#ifdef BENCHCNN_HAS_MPI
static cnn_status open_launched(int launcher, ranks **result, cnn_error *err)
{
    (void)launcher;
    return ranks_open_mpi(result, err);
}
#else
static cnn_status open_launched(int launcher, ranks **result, cnn_error *err)
{
    const char *size = getenv(launchers[launcher].size);
    (void)result;
    if (size != NULL && strcmp(size, "1") == 0) return CNN_OK;
    return CNN_FAIL(
        err, CNN_UNAVAILABLE,
        "a launcher started this process as rank %.20s of %.20s, but this benchcnn is built without MPI, and "
        "each rank would do all of the work for itself: build it where MPI is (Debian, Ubuntu: apt-get install "
        "libopenmpi-dev), or start it without the launcher",
        getenv(launchers[launcher].rank), size != NULL ? size : "several");
}
#endif

cnn_status ranks_open(ranks **result, cnn_error *err)
{
    const int launcher = find_launcher();
    *result = NULL;
    return launcher < 0 ? CNN_OK : open_launched(launcher, result, err);
}

bool ranks_under_launcher(void) { return find_launcher() >= 0; }

bool ranks_launched(void)
{
    const int launcher = find_launcher();
    const char *size = launcher >= 0 ? getenv(launchers[launcher].size) : NULL;
    return launcher >= 0 && (size == NULL || strcmp(size, "1") != 0);
}

void ranks_close(ranks *r)
{
    if (r != NULL) r->calls->close(r);
}

/* ---- Sending. */

cnn_status ranks_sum(ranks *r, void *buffer, int64_t count, cnn_dtype dtype, cnn_error *err)
{
    return r != NULL ? r->calls->sum(r, buffer, count, dtype, err) : CNN_OK;
}

cnn_status ranks_gather(ranks *r, const void *mine, size_t bytes, void *all, cnn_error *err)
{
    if (r != NULL) return r->calls->gather(r, mine, bytes, all, err);
    memcpy(all, mine, bytes);
    return CNN_OK;
}

cnn_status ranks_broadcast(ranks *r, void *buffer, size_t bytes, cnn_error *err)
{
    return r != NULL ? r->calls->broadcast(r, buffer, bytes, err) : CNN_OK;
}

cnn_status ranks_send(ranks *r, int to, const void *bytes, size_t count, cnn_error *err)
{
    return r->calls->send(r, to, bytes, count, err);
}

cnn_status ranks_receive(ranks *r, int *from, void **bytes, size_t *count, cnn_error *err)
{
    return r->calls->receive(r, from, bytes, count, err);
}

/* Nobody has all before all have sent. */
cnn_status ranks_barrier(ranks *r, cnn_error *err)
{
    if (r == NULL) return CNN_OK;
    const char mine = 0;
    char *all = malloc((size_t)r->size);
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d ranks", r->size);
    const cnn_status status = r->calls->gather(r, &mine, 1, all, err);
    free(all);
    return status;
}

/* ---- What all must know. */

typedef struct outcome {
    cnn_status status;
    char message[CNN_MESSAGE_MAX];
} outcome;

cnn_status ranks_agree(ranks *r, cnn_status status, cnn_error *err)
{
    outcome mine = {.status = status};
    cnn_error failed;
    int first = 0;
    if (r == NULL) return status;
    r->agreed = false;
    outcome *all = calloc((size_t)r->size, sizeof *all);
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d ranks", r->size);
    if (status != CNN_OK) snprintf(mine.message, sizeof mine.message, "%s", err->message);
    const cnn_status sent = r->calls->gather(r, &mine, sizeof mine, all, &failed);
    while (sent == CNN_OK && first < r->size && all[first].status == CNN_OK) first++;
    const bool known = sent == CNN_OK && first < r->size;
    if (sent != CNN_OK) *err = failed;
    if (known && first != r->rank) CNN_FAIL(err, all[first].status, "%s", all[first].message);
    if (known && first > 0) cnn_error_before(err, all[first].status, "rank %d of %d: ", first, r->size);
    r->agreed = known;
    status = known ? all[first].status : sent;
    free(all);
    return status;
}

cnn_status ranks_compare(ranks *r, const void *mine, size_t bytes, int *other, cnn_error *err)
{
    *other = -1;
    if (r == NULL) return CNN_OK;
    char *all = calloc((size_t)r->size, bytes);
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d ranks", r->size);
    const cnn_status status = r->calls->gather(r, mine, bytes, all, err);
    for (int i = r->size - 1; status == CNN_OK && i > 0; i--)
        if (memcmp(all + (size_t)i * bytes, all, bytes) != 0) *other = i;
    free(all);
    return status;
}
