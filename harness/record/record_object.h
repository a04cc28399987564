/* record_object.h: what a record is inside: a cJSON object. Only the files record*.c include this. */
#ifndef HARNESS_RECORD_RECORD_OBJECT_H
#define HARNESS_RECORD_RECORD_OBJECT_H

#include "record.h"

#include <cjson/cJSON.h>

struct cnn_record {
    cJSON *object;
    bool failed; /* memory ran out while a field was added: an incomplete record must not be written */
    int line;    /* where it was read; 0: it was made here */
};

/* Adds an object of texts under `key`; NULL when out of memory. Fill it with record_texts_put. */
cJSON *record_texts(cnn_record *record, const char *key);
void record_texts_put(cnn_record *record, cJSON *texts, const char *key, const char *value);

/* record_read.c: whether a line is a record; or that, or what a kill in mid-write left of one. */
bool record_whole(const char *line, size_t length);
bool record_begins(const char *line, size_t length);

#endif
