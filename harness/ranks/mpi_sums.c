/* mpi_sums.c: sums over ranks: MPI's own all-reduce. The one that is waited for is fastest where it may spin. The
 * others go on while a rank computes, as far as the network does it by itself: whatever needs the processor goes on in
 * a poke, or at the end. */
#include "harness/cnn/shape.h"
#include "mpi_parts.h"

#include <limits.h>
#include <stdlib.h>

cnn_status mpi_check(int code, const char *call, cnn_error *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS) return CNN_OK;
    (void)MPI_Error_string(code, text, &length);
    return CNN_FAIL(err, CNN_DEVICE, "%s: %.300s", call, text);
}

cnn_status mpi_too_much(size_t bytes, cnn_error *err)
{
    return CNN_FAIL(err, CNN_OVERFLOW, "%zu bytes are more than MPI sends at once", bytes);
}

static MPI_Datatype type_of(cnn_dtype dtype) { return dtype == CNN_F32 ? MPI_FLOAT : MPI_DOUBLE; }

cnn_status mpi_sum(ranks *r, void *buffer, int64_t count, cnn_dtype dtype, cnn_error *err)
{
    (void)r;
    if (count > INT_MAX) return mpi_too_much((size_t)count * cnn_dtype_size(dtype), err);
    return mpi_check(MPI_Allreduce(MPI_IN_PLACE, buffer, (int)count, type_of(dtype), MPI_SUM, MPI_COMM_WORLD),
                     "MPI_Allreduce", err);
}

/* ---- Sums beside which a rank computes. */

struct ranks_sums {
    int count, most;
    MPI_Request requests[];
};

cnn_status mpi_sums_open(ranks *r, int most, ranks_sums **result, cnn_error *err)
{
    (void)r;
    ranks_sums *s = *result = calloc(1, sizeof *s + (size_t)most * sizeof *s->requests);
    if (s == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d sums over ranks", most);
    s->most = most;
    return CNN_OK;
}

cnn_status mpi_sums_begin(ranks_sums *s, void *buffer, int64_t count, cnn_dtype dtype, cnn_error *err)
{
    if (count > INT_MAX) return mpi_too_much((size_t)count * cnn_dtype_size(dtype), err);
    if (s->count == s->most) return CNN_FAIL(err, CNN_INTERNAL, "more than %d sums over ranks at once", s->most);
    const cnn_status status = mpi_check(MPI_Iallreduce(MPI_IN_PLACE, buffer, (int)count, type_of(dtype), MPI_SUM,
                                                       MPI_COMM_WORLD, &s->requests[s->count]),
                                        "MPI_Iallreduce", err);
    if (status == CNN_OK) s->count++;
    return status;
}

cnn_status mpi_sums_poke(ranks_sums *s, bool *done, cnn_error *err)
{
    int all = 1;
    const cnn_status status =
        mpi_check(MPI_Testall(s->count, s->requests, &all, MPI_STATUSES_IGNORE), "MPI_Testall of sums", err);
    *done = all != 0;
    if (all) s->count = 0;
    return status;
}

cnn_status mpi_sums_end(ranks_sums *s, cnn_error *err)
{
    const cnn_status status =
        mpi_check(MPI_Waitall(s->count, s->requests, MPI_STATUSES_IGNORE), "MPI_Waitall of sums", err);
    s->count = 0;
    return status;
}

void mpi_sums_close(ranks_sums *s) { free(s); }
