/* record_unit.h: what the tests of records share: a file for each test, written to and read back. */
#ifndef TESTS_HARNESS_RECORD_RECORD_UNIT_H
#define TESTS_HARNESS_RECORD_RECORD_UNIT_H

#include "tests/unit.h"

#include "harness/record/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[64];

static inline int make_file(void **state)
{
    strcpy(path, "/tmp/test_record_XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0) return -1;
    close(fd);
    return 0;
}

static inline int remove_file(void **state) { return unlink(path); }

static inline void append_text(const char *text)
{
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static inline void read_text(char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static inline void write_one(const char *key, int64_t value)
{
    cnn_error err;
    record_sink *sink;
    assert_int_equal(record_sink_open(path, NULL, &sink, &err), CNN_OK);
    cnn_record *record = record_new("peak");
    record_int(record, key, value);
    assert_int_equal(record_write(sink, record, &err), CNN_OK);
    record_sink_close(sink);
}

/* Counts the records and adds up their "n". */
typedef struct tally {
    int count;
    double sum;
} tally;

static inline cnn_status count_record(void *user, const cnn_record *record, cnn_error *err)
{
    tally *t = user;
    const double n = record_get_real(record, "n");
    t->count++;
    if (!isnan(n)) t->sum += n;
    return CNN_OK;
}

static inline tally read_all(int *bad)
{
    cnn_error err;
    tally t = {0, 0};
    assert_int_equal(record_read(path, count_record, &t, bad, &err), CNN_OK);
    return t;
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_file, remove_file)

#endif
