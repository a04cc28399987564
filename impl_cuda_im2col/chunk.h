/* chunk.h: the images that a convolution works on at a time, as conv.c walks over them. */
#ifndef IMPL_CUDA_IM2COL_CHUNK_H
#define IMPL_CUDA_IM2COL_CHUNK_H

#include "impl_cuda_im2col/im2col.h"

typedef struct cucol_chunk {
    const cnn_plan *plan;
    const cnn_conv_desc *d;
    const cucol_plan *m;
    cucol_geometry g;
    cucol_copy copy;
    cucol_outputs outputs;
    char *columns, *padded, *wide; /* workspace */
    void *sums;                    /* of db's slices; db itself where there is one slice */
    int64_t first;                 /* image */
    bool transposes; /* NCHW with several images in one product: its y is `wide`, not the tensor as it lies */
    /* The three matrices: weights [oc/g][rows], columns [rows][width], outputs [oc/g][width]; `batch` of each. */
    cuda_matrix weights, column_matrix, output_matrix;
    int64_t width, batch;
} cucol_chunk;

/* Before the first chunk; then cucol_chunk_next() until it says false. */
cucol_chunk cucol_chunk_of(const cnn_plan *, const cnn_weighted_args *);
bool cucol_chunk_next(cucol_chunk *);

#endif
