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

/* Enumerations that have names in text: a list of X(ID, text); cnn/shape.h has the names. */
#define CNN_DTYPE_LIST(X)                                                                                              \
    X(F32, "f32", 4)                                                                                                   \
    X(F64, "f64", 8)                                                                                                   \
    X(F16, "f16", 2)                                                                                                   \
    X(BF16, "bf16", 2)                                                                                                 \
    X(U8_S8_S32, "u8:s8:s32", 4)                                                                                       \
    X(S8_S8_S32, "s8:s8:s32", 4)                                                                                       \
    X(F16_F16_F32, "f16:f16:f32", 4)                                                                                   \
    X(BF16_BF16_F32, "bf16:bf16:f32", 4)                                                                               \
    X(U8_S8_U8, "u8:s8:u8", 1)                                                                                         \
    X(U8_S8_S8, "u8:s8:s8", 1)                                                                                         \
    X(S8_S8_S8, "s8:s8:s8", 1)                                                                                         \
    X(S8_S8_U8, "s8:s8:u8", 1) /* and the bytes; of joined ones, those of the result */
/* Of what such a problem is joined, in the order of its name: the two factors of each product, activations before
 * weights (x before dy), and the result: y, dx, dw and db; then b, and what products are added up in. Where that is not
 * the type of the result, the result is quantized (cnn_quantization). */
#define CNN_JOINED_LIST(X)                                                                                             \
    X(U8_S8_S32, U8, S8, S32, S32)                                                                                     \
    X(S8_S8_S32, S8, S8, S32, S32)                                                                                     \
    X(F16_F16_F32, F16, F16, F32, F32)                                                                                 \
    X(BF16_BF16_F32, BF16, BF16, F32, F32)                                                                             \
    X(U8_S8_U8, U8, S8, U8, S32)                                                                                       \
    X(U8_S8_S8, U8, S8, S8, S32)                                                                                       \
    X(S8_S8_S8, S8, S8, S8, S32)                                                                                       \
    X(S8_S8_U8, S8, S8, U8, S32)
/* Types that an array of a joined problem can have, and no problem of its own. */
#define CNN_WHOLE_LIST(X) X(U8, "u8", 1) X(S8, "s8", 1) X(S32, "s32", 4)
#define CNN_LAYOUT_LIST(X) X(NCHW, "nchw") X(NHWC, "nhwc")
#define CNN_MATH_LIST(X) X(F32, "f32") X(TF32, "tf32") X(F16, "f16") X(BF16, "bf16")
#define CNN_DIR_LIST(X) X(FWD, "FWD") X(BWD_D, "BWD_D") X(BWD_W, "BWD_W")

#define CNN_ID(id, text) CNN_##id,
#define CNN_DTYPE_ID(id, text, bytes) CNN_##id,
typedef enum cnn_dtype {
    CNN_DTYPE_LIST(CNN_DTYPE_ID) CNN_DTYPE_COUNT,
    CNN_BEFORE_WHOLE = CNN_DTYPE_COUNT - 1,
    CNN_WHOLE_LIST(CNN_DTYPE_ID) CNN_NUMBER_COUNT
} cnn_dtype;
typedef enum cnn_layout { CNN_LAYOUT_LIST(CNN_ID) CNN_LAYOUT_COUNT } cnn_layout;

/* What the arithmetic may use. CNN_MATH_F32 is strict: products and sums are no less precise than the dtype, and with
 * CNN_F16 and CNN_BF16, which are types of memory (half.h), than f32: what is added up is rounded to the dtype once, to
 * the nearest, when it is stored; math f16 and bf16 let f16 and bf16 be what sums are kept in, too. With CNN_F64
 * `supports` refuses the others. */
#define CNN_MATH_ID(id, text) CNN_MATH_##id,
typedef enum cnn_math { CNN_MATH_LIST(CNN_MATH_ID) CNN_MATH_COUNT } cnn_math;

/* Operations without weights know FWD and BWD_D; batch norm's BWD_D gives dx, dgamma and dbeta at once; the optimizer
 * knows FWD only (the update). */
typedef enum cnn_dir { CNN_DIR_LIST(CNN_ID) CNN_DIR_COUNT } cnn_dir;

/* X(ID, name, directions): FWD; FWD and BWD_D; all three. */
#define CNN_OP_LIST(X)                                                                                                 \
    X(CONV, conv, 7)                                                                                                   \
    X(FC, fc, 7)                                                                                                       \
    X(POOL, pool, 3)                                                                                                   \
    X(ACT, act, 3)                                                                                                     \
    X(LOSS, loss, 3)                                                                                                   \
    X(DROPOUT, dropout, 3)                                                                                             \
    X(ADD, add, 1)                                                                                                     \
    X(CONCAT, concat, 3)                                                                                               \
    X(BATCHNORM, batchnorm, 3)                                                                                         \
    X(OPTIMIZER, optimizer, 1)                                                                                         \
    X(DECONV, deconv, 7)                                                                                               \
    X(CONV3D, conv3d, 7)                                                                                               \
    X(POOL3D, pool3d, 3)

#define CNN_OP_ID(id, name, dirs) CNN_OP_##id,
typedef enum cnn_op { CNN_OP_LIST(CNN_OP_ID) CNN_OP_COUNT } cnn_op;

/* `dtype` is that of activations and their gradients; `weights` that of weights, biases, statistics and optimizer
 * state. They are the same, but for batch norm, losses and optimizers in types of 16 bits, whose `weights` are F32
 * (cnn_weights_dtype); where the arrays of a product differ, `dtype` is a joined one. */
typedef struct cnn_type {
    cnn_dtype dtype, weights;
    cnn_layout layout;
    cnn_math math;
} cnn_type;

#endif
