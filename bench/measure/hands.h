/* hands.h: reads, writes and fills a device's memory without the implementation that is judged: by one of the harness's
 * own for the same kind of device. So what a plug-in puts off until its results are fetched, or does ahead when its
 * inputs change, it never learns of. */
#ifndef BENCH_MEASURE_HANDS_H
#define BENCH_MEASURE_HANDS_H

#include "harness/device/impl.h"

typedef struct hands {
    const cnn_session *session; /* for cnn_mem_upload, cnn_mem_download, cnn_mem_fill, cnn_sync */
    cnn_session own;            /* what is opened for that; empty where `session` is the one that is judged */
    bool trusted;               /* false: this build has nothing else for the device than what is judged */
} hands;

void hands_open(const cnn_session *judged, hands *h);
void hands_close(hands *h);

#endif
