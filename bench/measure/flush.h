/* flush.h: empties the caches of a session's device by writing through a buffer larger than they are. */
#ifndef BENCH_MEASURE_FLUSH_H
#define BENCH_MEASURE_FLUSH_H

#include "harness/device/impl.h"

typedef struct cache_flush cache_flush;

/* hands: fills first, where it is another session: what is judged might leave its own caches alone. */
cnn_status cache_flush_open(const cnn_session *session, const cnn_session *hands, cache_flush **flush, cnn_error *err);
cnn_status cache_flush_run(cache_flush *flush, cnn_error *err);
void cache_flush_close(cache_flush *flush); /* NULL is accepted */

#endif
