/* ranks.h: processes that work together, as a launcher (mpirun, srun) started them.
 *
 * A rank is one of them, numbered from 0. Whatever sends is called by all ranks, in the same order, and waits for all
 * of them. NULL stands for a process without a launcher: then nothing is sent, nothing waits, and rank_size() is 1.
 *
 * What one rank alone finds wrong the others do not know, and would wait for it for ever. So whatever may fail before
 * the ranks need each other is followed by ranks_agree(); what fails later ends all of them with ranks_abort(). A rank
 * that is lost ends the others through the launcher, which watches them. */
#ifndef HARNESS_RANKS_RANKS_H
#define HARNESS_RANKS_RANKS_H

#include "harness/cnn.h"

typedef struct ranks ranks;
typedef struct ranks_sums ranks_sums; /* sums under way, beside which a rank computes */

/* A way to send: mpi.c has one. */
typedef struct ranks_calls {
    /* Adds up the ranks' buffers, element by element, in place: all ranks get the same bits. */
    cnn_status (*sum)(ranks *, void *buffer, int64_t count, cnn_dtype, cnn_error *);
    /* `bytes` of each rank to all ranks, one behind the other in their order. */
    cnn_status (*gather)(ranks *, const void *mine, size_t bytes, void *all, cnn_error *);
    cnn_status (*broadcast)(ranks *, void *buffer, size_t bytes, cnn_error *); /* rank 0's to all */
    void (*abort)(ranks *, int status);                                        /* ends all ranks, this one too */
    void (*close)(ranks *);
    /* Between two: to rank `to`; and what comes to this one next, of any other, to be freed. The other calls go on
     * beside these. */
    cnn_status (*send)(ranks *, int to, const void *bytes, size_t count, cnn_error *);
    cnn_status (*receive)(ranks *, int *from, void **bytes, size_t *count, cnn_error *);
    /* Sums that go on while the ranks compute. Open: room for `most` of them at once. Begin: one more, whose buffer
     * belongs to it until the end. Poke: lets them go on, and says whether all that have begun are done. End: waits for
     * all. Close: behind an end; NULL is accepted. */
    cnn_status (*sums_open)(ranks *, int most, ranks_sums **, cnn_error *);
    cnn_status (*sums_begin)(ranks_sums *, void *buffer, int64_t count, cnn_dtype, cnn_error *);
    cnn_status (*sums_poke)(ranks_sums *, bool *done, cnn_error *);
    cnn_status (*sums_end)(ranks_sums *, cnn_error *);
    void (*sums_close)(ranks_sums *);
} ranks_calls;

struct ranks {
    const ranks_calls *calls;
    int rank, size;
    int node, local_rank, local_size; /* the lowest rank of this host; which of its ranks this is, of how many */
    bool agreed;                      /* the latest failure is known to all ranks: see ranks_agree() */
    char library[CNN_NAME_MAX];       /* "Open MPI 4.1.4" */
};

/* NULL where no launcher started this process. CNN_UNAVAILABLE where one did, with other ranks, and this program was
 * built without MPI: each rank would do the whole work for itself. */
cnn_status ranks_open(ranks **result, cnn_error *err);
void ranks_close(ranks *r); /* waits for all ranks */

static inline int rank_number(const ranks *r) { return r != NULL ? r->rank : 0; }
static inline int rank_size(const ranks *r) { return r != NULL ? r->size : 1; }

/* As in ranks_calls, and nothing without ranks; gather then copies. */
cnn_status ranks_sum(ranks *r, void *buffer, int64_t count, cnn_dtype dtype, cnn_error *err);
cnn_status ranks_gather(ranks *r, const void *mine, size_t bytes, void *all, cnn_error *err);
cnn_status ranks_broadcast(ranks *r, void *buffer, size_t bytes, cnn_error *err);
cnn_status ranks_barrier(ranks *r, cnn_error *err);

/* As in ranks_calls: between two, which must be ranks. */
cnn_status ranks_send(ranks *r, int to, const void *bytes, size_t count, cnn_error *err);
cnn_status ranks_receive(ranks *r, int *from, void **bytes, size_t *count, cnn_error *err);

/* Whether a launcher started this process as one of several; it may not say how many, and then it counts as several. */
bool ranks_launched(void);
/* Whether a launcher started it at all, if only as a single one: it starts no launcher of its own then. */
bool ranks_under_launcher(void);

/* Each rank comes with its status, and `err` where that is not CNN_OK. If any has failed, all get the status and the
 * message of the lowest that did, behind its number, and r->agreed is set. */
cnn_status ranks_agree(ranks *r, cnn_status status, cnn_error *err);
/* *other: the lowest rank whose bytes are not those of rank 0; -1: all are the same. */
cnn_status ranks_compare(ranks *r, const void *mine, size_t bytes, int *other, cnn_error *err);

/* place.c: which cores are whose. Ranks of a host that may run on the same cores share them out: each binds itself to
 * `threads` of its own, or (threads 0) to as many as there are for each. Where there are too few it stays as it is. The
 * number of threads to take; before any thread is started. */
cnn_status ranks_place(ranks *r, int threads, int *result, cnn_error *err);
/* Two ranks of a host, from rank `first` on, that may run on the same core; *a is -1 where there are none. */
cnn_status ranks_share_cores(ranks *r, int first, int *a, int *b, cnn_error *err);

/* mpi.c, in a build with MPI. */
cnn_status ranks_open_mpi(ranks **result, cnn_error *err);

#endif
