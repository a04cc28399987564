/* serve.h: the runner's side of separate.h: what its two files share. */
#ifndef HARNESS_DEVICE_SERVE_H
#define HARNESS_DEVICE_SERVE_H

#include "separate.h"

enum { SERVE_TEXT_MOST = 2048 };

typedef struct serving {
    const cnn_impl *impl;
    int socket, other; /* other: the second one, or -1 */
    wire_message in, out;
    bounds_list around;
    cnn_status loaded;
    cnn_error why;
} serving;

/* Begins the answer to what is asked: a status and its text, then what else there is. */
void serve_answer(serving *s, cnn_status status, const cnn_error *err);

/* serve_calls.c: by what is asked; NULL: it is no call of the implementation. */
typedef void serve_handler(serving *);
extern serve_handler *const serve_calls[SEPARATE_COUNT];

#endif
