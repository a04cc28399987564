/* files.h: what stands where a file is to be read back, or written. */
#ifndef HARNESS_BASE_FILES_H
#define HARNESS_BASE_FILES_H

#include "harness/cnn.h"

/* Whether it is there, and holds anything to read back: no pipe, no terminal. NULL is accepted. */
bool cnn_is_plain_file(const char *path);
/* CNN_BAD_ARGUMENT when what stands at `path` is something else than what is to replace it: a file that does not begin
 * as `what` ("an SVG picture") does. */
cnn_status cnn_check_replaced(const char *path, const char *what, const char *beginning, cnn_error *err);

#endif
