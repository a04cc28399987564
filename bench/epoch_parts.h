/* epoch_parts.h: how texts get into a setting, the same when it is asked for (epoch_setting.c) and when it is read from
 * a record (epoch.c). */
#ifndef BENCH_EPOCH_PARTS_H
#define BENCH_EPOCH_PARTS_H

#include "epoch.h"

/* A text that is too long ends in the checksum of all of it: two of them with one beginning are not the same. */
void epoch_text(char *field, size_t size, const char *text);
/* The knobs that a record tells of, as JSON. "?": the record, an old one, tells of none. */
void epoch_knobs(char *field, size_t size, const cnn_record *record);

#endif
