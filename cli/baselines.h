/* baselines.h: records of `bench` that are kept by name (--save NAME), to be compared with (--against NAME): one file
 * each in $XDG_DATA_HOME/benchcnn/baselines, else ~/.local/share/benchcnn/baselines. */
#ifndef CLI_BASELINES_H
#define CLI_BASELINES_H

#include "harness/cnn.h"

enum { CLI_BASELINE_PATH_MAX = 1024, CLI_BASELINE_NAME_MAX = 64 };

/* CNN_BAD_ARGUMENT: letters, digits and . _ + - make a name, up to CLI_BASELINE_NAME_MAX of them, the first a letter or
 * digit. */
cnn_status cli_baseline_check(const char *option, const char *name, cnn_error *err);
/* Where the baseline of this name is, or would be. make: the folder is made. CNN_IO, CNN_UNAVAILABLE: it cannot be. */
cnn_status cli_baseline_path(const char *name, bool make, char path[CLI_BASELINE_PATH_MAX], cnn_error *err);
/* What --against names: a baseline, or a FILE, where it has a '/' or ends in .jsonl. CNN_BAD_ARGUMENT: there is none,
 * and which there are. */
cnn_status cli_baseline_find(const char *given, char path[CLI_BASELINE_PATH_MAX], cnn_error *err);
/* Each, in the order of their names. No folder: none. */
typedef cnn_status cli_baseline_each(void *user, const char *name, const char *path, cnn_error *err);
cnn_status cli_each_baseline(cli_baseline_each *each, void *user, cnn_error *err);

#endif
