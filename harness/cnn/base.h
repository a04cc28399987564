/* cnn/base.h: what everything else is made of: errors, the kinds of number, layout and arithmetic. Part of cnn.h. */
#ifndef CNN_BASE_H
#define CNN_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CNN_ALIGN = 64, CNN_NAME_MAX = 96, CNN_MESSAGE_MAX = 512, CNN_MAX_INPUTS = 8 };

#define CNN_STATUS_LIST(X)                                                                                             \
    X(OK, "ok")                                                                                                        \
    X(BAD_ARGUMENT, "bad argument")                                                                                    \
    X(BAD_FORMAT, "bad format")                                                                                        \
    X(OVERFLOW, "size overflow")                                                                                       \
    X(OUT_OF_MEMORY, "out of memory")                                                                                  \
    X(IO, "input/output error")                                                                                        \
    X(UNSUPPORTED, "unsupported")                                                                                      \
    X(UNAVAILABLE, "unavailable")                                                                                      \
    X(DEVICE, "device error")                                                                                          \
    X(INTERRUPTED, "interrupted")                                                                                      \
    X(INTERNAL, "internal error")

typedef enum cnn_status {
#define X(name, text) CNN_##name,
    CNN_STATUS_LIST(X)
#undef X
        CNN_STATUS_COUNT
} cnn_status;

/* Owned by the caller; valid when a call returned anything but CNN_OK. */
typedef struct cnn_error {
    cnn_status status;
    const char *file;
    int line;
    char message[CNN_MESSAGE_MAX];
} cnn_error;

#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
static inline cnn_status
cnn_error_set(cnn_error *err, cnn_status status, const char *file, int line, const char *format, ...)
{
    va_list args;
    err->status = status;
    err->file = file;
    err->line = line;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return status;
}

/* return CNN_FAIL(err, CNN_UNSUPPORTED, "kernel %d x %d is larger than 7 x 7", kh, kw); */
#define CNN_FAIL(err, status, ...) cnn_error_set((err), (status), __FILE__, __LINE__, __VA_ARGS__)

typedef enum cnn_dtype { CNN_F32, CNN_F64, CNN_DTYPE_COUNT } cnn_dtype;
typedef enum cnn_layout { CNN_NCHW, CNN_NHWC, CNN_LAYOUT_COUNT } cnn_layout;

/* What the arithmetic may use. CNN_MATH_F32 is strict: products and sums are no less precise than the dtype.
 * With CNN_F64 `supports` refuses the others. */
typedef enum cnn_math { CNN_MATH_F32, CNN_MATH_TF32, CNN_MATH_F16, CNN_MATH_BF16, CNN_MATH_COUNT } cnn_math;

typedef enum cnn_op {
    CNN_OP_CONV,
    CNN_OP_FC,
    CNN_OP_POOL,
    CNN_OP_ACT,
    CNN_OP_LOSS,
    CNN_OP_DROPOUT,
    CNN_OP_ADD,
    CNN_OP_CONCAT,
    CNN_OP_BATCHNORM,
    CNN_OP_OPTIMIZER,
    CNN_OP_COUNT
} cnn_op;

/* Operations without weights know FWD and BWD_D; batch norm's BWD_D gives dx, dgamma and dbeta at once; the optimizer
 * knows FWD only (the update). */
typedef enum cnn_dir { CNN_FWD, CNN_BWD_D, CNN_BWD_W, CNN_DIR_COUNT } cnn_dir;

typedef struct cnn_type {
    cnn_dtype dtype;
    cnn_layout layout;
    cnn_math math;
} cnn_type;

#endif
