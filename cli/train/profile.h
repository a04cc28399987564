/* profile.h: what `train --profile` shows and records of an epoch. */
#ifndef CLI_TRAIN_PROFILE_H
#define CLI_TRAIN_PROFILE_H

#include "bench/epoch.h"
#include "cli/cli.h"

typedef struct train_profiled {
    const cli_options *options;
    const cnn_session *session;
    const char *algorithm;
    const epoch_setting *setting;
    int64_t epoch; /* from 1 */
    const trainer_result *result;
    const epoch_profile *profile;
} train_profiled;

/* CNN_UNSUPPORTED where times mean nothing. */
cnn_status train_profile_check(const cli_options *options, const cnn_session *session, cnn_error *err);
/* The table, or with --json only the records: one of kind "profile" a row, one of kind "profiled_epoch" at the end. */
cnn_status train_profile_report(const train_profiled *p, record_sink *sink, cnn_error *err);

#endif
