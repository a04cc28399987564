/* parts.h: what the files of cli/kernel share. */
#ifndef CLI_KERNEL_PARTS_H
#define CLI_KERNEL_PARTS_H

#include "impl_kernel/kernel.h"

enum { KERNEL_COMMAND_MAX = 1024 }; /* cli_options.kernel_command */

/* compile.c: compiles the kernel in a folder that is removed again. *object: the shared object, open for reading;
 * `command`: compiler and flags, for people. What the compiler says goes to standard error. CNN_BAD_ARGUMENT: there is
 * no compiler, or it refuses the file. */
cnn_status kernel_compile(const kernel *k, char command[KERNEL_COMMAND_MAX], int *object, cnn_error *err);

#endif
