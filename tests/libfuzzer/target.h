/* target.h: what the libFuzzer targets share. A target gives the bytes to one parser; it may refuse them with a
 * sentence or accept them, and then its own rules must hold. */
#ifndef TESTS_LIBFUZZER_TARGET_H
#define TESTS_LIBFUZZER_TARGET_H

#include "harness/cnn.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Tells libFuzzer that this input is a finding. */
static inline void require(bool held, const char *what)
{
    if (held) return;
    fprintf(stderr, "not held: %s\n", what);
    abort();
}

/* A refusal is a status of bad input and a sentence. */
static inline void require_refusal(cnn_status status, const cnn_error *err)
{
    require(status == err->status, "the status is the error's");
    require(status != CNN_INTERNAL && status != CNN_DEVICE, "bad input is no fault of the program");
    require(strlen(err->message) > 10, "a refusal says why");
}

/* The bytes as a file without a place in any folder. */
typedef struct input_file {
    int fd;
    char path[64];
} input_file;

static inline input_file input_file_make(const uint8_t *data, size_t size)
{
    input_file file = {.fd = memfd_create("input", 0)};
    require(file.fd >= 0, "a file in memory");
    for (size_t done = 0; done < size;) {
        const ssize_t n = write(file.fd, data + done, size - done);
        require(n > 0, "a file in memory is written");
        done += (size_t)n;
    }
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
    return file;
}

static inline void input_file_free(const input_file *file) { close(file->fd); }

/* The bytes as a text: up to the first NUL. */
static inline char *text_make(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL, "memory for a text");
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

#endif
