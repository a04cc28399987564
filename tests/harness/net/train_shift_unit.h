/* train_shift_unit.h: what the tests of training on moved images share: an implementation of the test's own making
 * behind a session, and a trainer with a shift. */
#ifndef TESTS_HARNESS_NET_TRAIN_SHIFT_UNIT_H
#define TESTS_HARNESS_NET_TRAIN_SHIFT_UNIT_H

#include "net_unit.h"
#include "tests/mock/mock_device.h"
#include "tests/shift_unit.h"

const cnn_impl *cnn_impl_cpu(void);

enum { SEED = 3, PARAMS_MAX = 2048 };

static inline cnn_session session_of(const cnn_impl *impl)
{
    const cnn_session_params params = {.threads = 1};
    cnn_session session;
    OK(cnn_session_open(impl, &params, &session, err));
    return session;
}

static inline trainer_params shifting(int64_t shift)
{
    trainer_params params = {.seed = SEED, .shift = shift};
    OK(cnn_optimizer_parse("adam,lr=0.01", &params.optimizer, err));
    return params;
}

#endif
