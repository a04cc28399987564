/* mpi_parts.h: what the files of ranks by MPI share. */
#ifndef HARNESS_RANKS_MPI_PARTS_H
#define HARNESS_RANKS_MPI_PARTS_H

#include "ranks.h"

#include <mpi.h>

/* mpi_sums.c: an error of MPI's as the house's; that of too many bytes for one call. */
cnn_status mpi_check(int code, const char *call, cnn_error *err);
cnn_status mpi_too_much(size_t bytes, cnn_error *err);

/* mpi_sums.c: as in ranks_calls. */
cnn_status mpi_sum(ranks *r, void *buffer, int64_t count, cnn_dtype dtype, cnn_error *err);
cnn_status mpi_sums_open(ranks *r, int most, ranks_sums **result, cnn_error *err);
cnn_status mpi_sums_begin(ranks_sums *s, void *buffer, int64_t count, cnn_dtype dtype, cnn_error *err);
cnn_status mpi_sums_poke(ranks_sums *s, bool *done, cnn_error *err);
cnn_status mpi_sums_end(ranks_sums *s, cnn_error *err);
void mpi_sums_close(ranks_sums *s);

#endif
