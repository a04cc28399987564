/* epoch_unit.h: rows of epochs for tests, of a session on fake_add.h, and their way through a file. */
#ifndef TESTS_BENCH_EPOCH_UNIT_H
#define TESTS_BENCH_EPOCH_UNIT_H

#include "bench/epoch.h"
#include "fake_add.h"

#include <unistd.h>

static epoch_row make_row(const cnn_session *session, int64_t batch, int64_t epoch, double seconds)
{
    epoch_row row;
    memset(&row, 0, sizeof row);
    epoch_setting_of_session(session, &row.setting);
    strcpy(row.setting.algorithm, "direct");
    strcpy(row.setting.net, "thesis");
    strcpy(row.setting.net_crc, "12345678");
    row.setting.net_params = 1000;
    strcpy(row.setting.data, "mnist");
    strcpy(row.setting.dtype, "f32");
    strcpy(row.setting.layout, "nchw");
    strcpy(row.setting.math, "f32");
    strcpy(row.setting.optimizer, "adam,l1=1e-05");
    strcpy(row.setting.data_on, "host");
    row.setting.graph = true;
    row.setting.batch = batch;
    row.setting.seed = 1;
    row.setting.train_images = 60000;
    row.setting.test_images = 10000;
    row.epoch = epoch;
    row.seconds = seconds;
    row.train_loss = NAN;
    return row;
}

/* Writes the rows as a sweep does, behind its environment, and reads the file back. */
static inline void through_a_file(const cnn_session *session, const epoch_row *rows, int count, epoch_table *table)
{
    char path[] = "/tmp/test_epoch_XXXXXX";
    cnn_error err;
    record_sink *sink;
    int bad, fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(record_sink_open(path, NULL, &sink, &err), CNN_OK);
    assert_int_equal(record_environment(sink, session, "test", &err), CNN_OK);
    for (int i = 0; i < count; i++) assert_int_equal(record_write(sink, epoch_record(session, &rows[i]), &err), CNN_OK);
    record_sink_close(sink);
    assert_int_equal(epoch_table_read(table, path, &bad, &err), CNN_OK);
    unlink(path);
    assert_int_equal(bad, 0);
}

#endif
