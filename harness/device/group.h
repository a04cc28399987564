/* group.h: arrays in a session's memory, added up over ranks (harness/ranks). Three ways: a device that can (cnn_comms)
 * does it on its stream, and it is captured there; in host memory MPI adds up the array where it stands; another
 * device's array goes through host memory, and cannot be captured.
 *
 * In host memory sums can also be begun, and waited for later: then they go on beside what the session computes. */
#ifndef HARNESS_DEVICE_GROUP_H
#define HARNESS_DEVICE_GROUP_H

#include "harness/ranks/ranks.h"
#include "impl.h"

typedef struct cnn_group {
    const cnn_session *session;
    ranks *ranks;
    cnn_comm *comm;  /* the device's own; else NULL */
    void *staging;   /* of an array on its way through host memory; else NULL */
    double seconds;  /* what sums have taken so far, the wait for other ranks included; 0 where they are the device's */
    const char *way; /* "MPI", "MPI, by way of host memory", "device" */
    ranks_sums *sums;       /* those that were begun; NULL: none can be */
    bool flying;            /* some of them are not known to be done */
    double begun, flight_s; /* since when; how long in all so far some were under way, those that were waited for too */
} cnn_group;

/* For arrays of up to so many bytes. Called by all ranks, as are sums; none may be NULL. */
cnn_status cnn_group_open(const cnn_session *session, ranks *r, size_t bytes, cnn_group *group, cnn_error *err);
/* Whether the session's arrays can be added up beside its work. Ahead: room for `most` such sums at once. */
bool cnn_group_overlaps(const cnn_session *session);
cnn_status cnn_group_open_ahead(cnn_group *group, int most, cnn_error *err);
void cnn_group_close(cnn_group *group); /* of zeros is accepted; graphs that hold its sums are freed before */
/* In place; asynchronous where the device does it. All ranks get the same bits. */
cnn_status cnn_group_sum(cnn_group *group, void *buffer, int64_t count, cnn_dtype dtype, cnn_error *err);
/* The same, with a wait for all that were begun at the end; before it nothing touches their buffers. All ranks begin
 * the same sums in the same order. Poke: lets them go on, where MPI needs the processor for it. */
cnn_status cnn_group_begin(cnn_group *group, void *buffer, int64_t count, cnn_dtype dtype, cnn_error *err);
cnn_status cnn_group_poke(cnn_group *group, cnn_error *err);
cnn_status cnn_group_end(cnn_group *group, cnn_error *err);

#endif
