/* flush.h: empties the caches of a session's device by writing through a buffer larger than they are. */
#ifndef BENCH_FLUSH_H
#define BENCH_FLUSH_H

#include "harness/impl.h"

typedef struct cache_flush cache_flush;

cnn_status cache_flush_open(const cnn_session *session, cache_flush **flush, cnn_error *err);
cnn_status cache_flush_run(cache_flush *flush, cnn_error *err);
void cache_flush_close(cache_flush *flush); /* NULL is accepted */

#endif
