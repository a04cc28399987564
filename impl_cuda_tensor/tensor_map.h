/* tensor_map.h: maps of tensors of 16 bits, by which one thread copies boxes of them (asm.h: copy_box, copy_line; C++).
 * Rows of channels divide by 16 bytes. A number of f32 counts as two. */
#ifndef IMPL_CUDA_TENSOR_TENSOR_MAP_H
#define IMPL_CUDA_TENSOR_TENSOR_MAP_H

#include "impl_cuda_tensor/asm.h"
#include "impl_cuda_tensor/tensor.h"

/* For copy_box(). */
cnn_status map_matrix(const void *, int32_t rows, int32_t columns, tensor_map *, cnn_error *);
/* For copy_line() of so many columns, 256 at most. */
typedef struct tensor_sizes {
    int32_t images, rows, columns, channels;
} tensor_sizes;
cnn_status map_images(const void *, const tensor_sizes *, int32_t columns, tensor_map *, cnn_error *);
/* For copy_tap() of so many pixels, 256 at most: where taps of the window's corner stand, which may lie outside of the
 * images. Pixels are so many numbers apart: fewer than they have channels, where they overlap. */
typedef struct tensor_taps {
    tensor_sizes images;
    const cutensor_window *window;
    int32_t apart, pixels;
} tensor_taps;
cnn_status map_taps(const void *, const tensor_taps *, tensor_map *, cnn_error *);

#endif
