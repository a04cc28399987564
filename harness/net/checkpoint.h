/* checkpoint.h: a training run on disk, to go on with: parameters, running statistics, the optimizer's state, the step
 * count and how many epochs are done. What follows is, bit for bit, what would have followed without the stop. */
#ifndef HARNESS_NET_CHECKPOINT_H
#define HARNESS_NET_CHECKPOINT_H

#include "trainer.h"

enum { CHECKPOINT_SETTING_MAX = 2048 };

/* Written beside and renamed, so that a kill at any moment leaves either the old one or the new one whole. `setting` is
 * a line that says what is trained and how; epochs: those done. CNN_IO names the file. */
cnn_status checkpoint_save(trainer *t, const char *path, const char *setting, int64_t epochs, cnn_error *err);
/* Whether it can be written at all: asked before the first epoch, and not known only after it. CNN_IO names the file.
 */
cnn_status checkpoint_check(const char *path, cnn_error *err);
/* *epochs is 0 when there is no such file. CNN_BAD_ARGUMENT when it is of another setting, CNN_BAD_FORMAT when it is no
 * checkpoint or damaged. */
cnn_status checkpoint_load(trainer *t, const char *path, const char *setting, int64_t *epochs, cnn_error *err);

#endif
