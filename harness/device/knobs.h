/* knobs.h: the values of an implementation's knobs: defaults, then settings. Internal to harness/. */
#ifndef HARNESS_DEVICE_KNOBS_H
#define HARNESS_DEVICE_KNOBS_H

#include "harness/cnn.h"

/* The knob of this name; offers the nearest. Whether it takes the value. */
cnn_status cnn_knob_find(const cnn_impl *impl, const char *name, int *index, cnn_error *err);
cnn_status cnn_knob_check(const cnn_impl *impl, int index, int64_t value, cnn_error *err);
/* values: impl->n_knobs of them. */
cnn_status cnn_knob_values(const cnn_impl *impl, const char *const *settings, int n_settings, int64_t *values,
                           cnn_error *err);
/* Whether one of the settings sets the implementation's knob of this index. */
bool cnn_is_set(const cnn_impl *impl, int knob, const char *const *settings, int n_settings);

#endif
