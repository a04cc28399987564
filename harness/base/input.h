/* input.h: files that are read. None keeps the program waiting for ever, none is without end. */
#ifndef HARNESS_BASE_INPUT_H
#define HARNESS_BASE_INPUT_H

#include "harness/cnn.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* A file, a pipe or a terminal, open for reading; -1 and in *why the reason: what the system says, or that it is a
 * directory, a device, a FIFO that nothing writes to. /dev/null is an empty file. */
int input_open(const char *path, const char **why);
/* The same as a stream; NULL for -1. */
FILE *input_stream(const char *path, const char **why);

/* The value of "KEY: VALUE" or KEY="VALUE" in a small file of such lines, the system's own; key NULL: the first line.
 * False: it cannot be had. */
bool input_value(const char *path, const char *key, char *value, size_t size);

/* getline(), but for a line of more than INPUT_LINE_MAX bytes: -1 with errno EFBIG. */
enum { INPUT_LINE_MAX = 1 << 26 };
const char *input_line_why(void); /* of a -1 that is not the end of the file, by errno */
ssize_t input_line(char **line, size_t *capacity, FILE *file);

/* What stands where a file is to be read back, or written. */
/* Whether it is there, and holds anything to read back: no pipe, no terminal. NULL is accepted. */
bool cnn_is_plain_file(const char *path);
/* CNN_BAD_ARGUMENT when what stands at `path` is something else than what is to replace it: a file that does not begin
 * as `what` ("an SVG picture") does. */
cnn_status cnn_check_replaced(const char *path, const char *what, const char *beginning, cnn_error *err);

#endif
