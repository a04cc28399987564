/* in_network.h: the layers around an operation, for timing it as it runs in a network. Before each sample a whole
 * training step of the network runs, in buffers of its own, so that the caches hold what a step leaves in them; then
 * what the neighbouring layer hands over (x going forward, dy going back) is written afresh, as that layer would have
 * just done.
 */
#ifndef BENCH_MEASURE_IN_NETWORK_H
#define BENCH_MEASURE_IN_NETWORK_H

#include "harness/net/net.h"
#include "verify/oracle/case.h"

typedef struct in_network in_network;

/* For an operation of `c` whose operands stand in `buffers`, filled; all of them must outlive it. CNN_OUT_OF_MEMORY
 * when the network does not fit beside them. */
cnn_status in_network_open(const cnn_session *session, const cnn_network *network, const vf_case *c,
                           void *const *buffers, in_network **result, cnn_error *err);
/* Everything is on its way when this returns; on a device it may not have happened yet. */
cnn_status in_network_run(in_network *a, cnn_error *err);
void in_network_close(in_network *a); /* NULL is accepted */

#endif
