/* epoch_unit.h: rows of epochs for tests, of a session on fake_add.h. */
#ifndef TESTS_EPOCH_UNIT_H
#define TESTS_EPOCH_UNIT_H

#include "bench/epoch.h"
#include "fake_add.h"

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

#endif
