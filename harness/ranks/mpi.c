/* mpi.c: ranks by MPI: Open MPI, or any other. Sums are in mpi_sums.c. The
 * calls here may wait long, for rank 0 checks what all have trained: they wait asleep, and Ctrl-C ends the wait. */
#include "mpi_parts.h"

#include "harness/base/clock.h"
#include "harness/process/interrupt.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Waiting. */

/* Asleep for longer the longer it takes: a hundredth of what has been waited, a millisecond at most. */
static void rest(double waited)
{
    const double most = 1e-3, nap = waited / 100 < most ? waited / 100 : most;
    const struct timespec time = {.tv_nsec = (long)(nap * 1e9)};
    if (waited < 1e-3)
        (void)sched_yield();
    else
        (void)nanosleep(&time, NULL);
}

static cnn_status interrupted(const ranks *r, cnn_error *err)
{
    return CNN_FAIL(err, CNN_INTERRUPTED,
                    "stopped while it waited for the others, of %d ranks (a launcher stops all when one is lost)",
                    r->size);
}

static cnn_status wait_for(const ranks *r, MPI_Request *request, const char *call, cnn_error *err)
{
    const double start = cnn_now();
    int done = 0;
    for (;;) {
        const cnn_status status = mpi_check(MPI_Test(request, &done, MPI_STATUS_IGNORE), call, err);
        if (status != CNN_OK || done) return status;
        if (interrupt_seen()) return interrupted(r, err);
        rest(cnn_now() - start);
    }
}

/* ---- The calls. */

static cnn_status mpi_gather(ranks *r, const void *mine, size_t bytes, void *all, cnn_error *err)
{
    MPI_Request request;
    if (bytes > INT_MAX) return mpi_too_much(bytes, err);
    const int count = (int)bytes;
    const cnn_status status = mpi_check(
        MPI_Iallgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD, &request), "MPI_Iallgather", err);
    return status == CNN_OK ? wait_for(r, &request, "MPI_Iallgather", err) : status;
}

static cnn_status mpi_broadcast(ranks *r, void *buffer, size_t bytes, cnn_error *err)
{
    MPI_Request request;
    if (bytes > INT_MAX) return mpi_too_much(bytes, err);
    const cnn_status status =
        mpi_check(MPI_Ibcast(buffer, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request), "MPI_Ibcast", err);
    return status == CNN_OK ? wait_for(r, &request, "MPI_Ibcast", err) : status;
}

static cnn_status mpi_send(ranks *r, int to, const void *bytes, size_t count, cnn_error *err)
{
    MPI_Request request;
    if (count > INT_MAX) return mpi_too_much(count, err);
    const cnn_status status =
        mpi_check(MPI_Isend(bytes, (int)count, MPI_BYTE, to, 0, MPI_COMM_WORLD, &request), "MPI_Isend", err);
    return status == CNN_OK ? wait_for(r, &request, "MPI_Isend", err) : status;
}

/* Waits for a message before it knows how long it is. */
static cnn_status wait_for_message(const ranks *r, MPI_Message *message, MPI_Status *which, cnn_error *err)
{
    const double start = cnn_now();
    int there = 0;
    for (;;) {
        const cnn_status status =
            mpi_check(MPI_Improbe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, message, which), "MPI_Improbe", err);
        if (status != CNN_OK || there) return status;
        if (interrupt_seen()) return interrupted(r, err);
        rest(cnn_now() - start);
    }
}

static cnn_status mpi_receive(ranks *r, int *from, void **bytes, size_t *size, cnn_error *err)
{
    MPI_Message message;
    MPI_Status which;
    int count = 0;
    *bytes = NULL;
    cnn_status status = wait_for_message(r, &message, &which, err);
    if (status == CNN_OK) status = mpi_check(MPI_Get_count(&which, MPI_BYTE, &count), "MPI_Get_count", err);
    if (status != CNN_OK) return status;
    *bytes = malloc((size_t)count + 1);
    if (*bytes == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d bytes of rank %d", count, which.MPI_SOURCE);
    status = mpi_check(MPI_Mrecv(*bytes, count, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv", err);
    *from = which.MPI_SOURCE;
    *size = (size_t)count;
    ((char *)*bytes)[count] = '\0';
    return status;
}

static void mpi_abort(ranks *r, int status)
{
    (void)r;
    (void)MPI_Abort(MPI_COMM_WORLD, status);
    abort(); /* it does not return */
}

/* A rank that has ended with a status other than 0 makes mpirun stop the others, which are at their end as well. */
static void mpi_close(ranks *r)
{
    (void)signal(SIGTERM, SIG_IGN);
    (void)MPI_Finalize();
    free(r);
}

/* ---- Opening. */

static const ranks_calls calls = {.sum = mpi_sum,
                                  .gather = mpi_gather,
                                  .broadcast = mpi_broadcast,
                                  .abort = mpi_abort,
                                  .close = mpi_close,
                                  .send = mpi_send,
                                  .receive = mpi_receive,
                                  .sums_open = mpi_sums_open,
                                  .sums_begin = mpi_sums_begin,
                                  .sums_poke = mpi_sums_poke,
                                  .sums_end = mpi_sums_end,
                                  .sums_close = mpi_sums_close};

/* The ranks that share this one's memory are those of its host. */
static cnn_status find_local(ranks *r, cnn_error *err)
{
    MPI_Comm local;
    cnn_status status =
        mpi_check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, r->rank, MPI_INFO_NULL, &local),
                  "MPI_Comm_split_type", err);
    if (status != CNN_OK) return status;
    r->node = r->rank;
    (void)MPI_Comm_rank(local, &r->local_rank);
    (void)MPI_Comm_size(local, &r->local_size);
    status = mpi_check(MPI_Bcast(&r->node, 1, MPI_INT, 0, local), "MPI_Bcast", err);
    (void)MPI_Comm_free(&local);
    return status;
}

/* Of the library's own words the first: "Open MPI v4.1.4, package: ...". */
static void name_library(ranks *r)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    (void)MPI_Get_library_version(text, &length);
    snprintf(r->library, sizeof r->library, "%.*s", (int)strcspn(text, ",\n"), text);
}

cnn_status ranks_open_mpi(ranks **result, cnn_error *err)
{
    int was = 0, level = 0;
    (void)MPI_Initialized(&was);
    if (was) return CNN_FAIL(err, CNN_UNSUPPORTED, "a process works over ranks once: start each command for itself");
    ranks *r = calloc(1, sizeof *r);
    if (r == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for ranks");
    r->calls = &calls;
    cnn_status status = mpi_check(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread", err);
    if (status != CNN_OK) {
        free(r);
        return status;
    }
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &r->size);
    name_library(r);
    status = find_local(r, err);
    if (status == CNN_OK)
        *result = r;
    else
        mpi_close(r);
    return status;
}
