/* net_unit.h: what the tests of the trainer share: a session on the CPU, small data. */
#ifndef TESTS_HARNESS_NET_NET_UNIT_H
#define TESTS_HARNESS_NET_NET_UNIT_H

#include "tests/unit.h"

#include "harness/base/rng.h"
#include "harness/net/trainer.h"
#include "harness/problem/problem.h"

#include <stdlib.h>

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        cnn_error err_ = {.message = ""};                                                                              \
        cnn_error *err = &err_;                                                                                        \
        if ((call) != CNN_OK) fail_msg("%s (%s:%d)", err->message, err->file, err->line);                              \
    } while (0)

/* The first implementation in host memory, with settings of its knobs; false where none is built. */
static inline bool open_session_with(cnn_session *session, int threads, const char *const *settings, int n_settings)
{
    const cnn_session_params params = {.threads = threads, .settings = settings, .n_settings = n_settings};
    for (int i = 0; i < cnn_impl_count(NULL); i++) {
        if (cnn_impl_at(NULL, i)->device_kind != CNN_DEVICE_CPU) continue;
        OK(cnn_session_open(cnn_impl_at(NULL, i), &params, session, err));
        return true;
    }
    return false;
}

static inline bool open_session(cnn_session *session, int threads)
{
    return open_session_with(session, threads, NULL, 0);
}

static inline cnn_network *build_net(const char *text, cnn_dtype dtype, cnn_layout layout, int64_t batch)
{
    const cnn_type type = {dtype, dtype, layout, CNN_MATH_F32};
    cnn_network *n = NULL;
    OK(cnn_net_build("test.net", text, &type, batch, 7, &n, err));
    return n;
}

static inline dataset small_data(int64_t train, int64_t test, int64_t c, int64_t h, int64_t w)
{
    const dataset_params params = {.what = "synthetic",
                                   .c = c,
                                   .h = h,
                                   .w = w,
                                   .train_images = train,
                                   .test_images = test,
                                   .seed = 11,
                                   .threads = 1};
    dataset data;
    OK(dataset_open(&params, &data, err));
    return data;
}

static inline trainer *open_trainer(const cnn_session *session, const cnn_network *network, const dataset *data,
                                    const char *optimizer)
{
    trainer_params params = {.seed = 3};
    trainer *t = NULL;
    OK(cnn_optimizer_parse(optimizer, &params.optimizer, err));
    OK(trainer_open(session, network, data, &params, &t, err));
    OK(trainer_start(t, err));
    return t;
}

#endif
