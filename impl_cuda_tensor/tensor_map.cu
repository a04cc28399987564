/* tensor_map.cu: maps of tensors, which the driver makes. */
#include "impl_cuda_tensor/tensor_map.h"

#ifdef BENCHCNN_CUDA_EMULATED
bool cutensor_can_map() { return true; }

cnn_status map_images(const void *tensor, const tensor_sizes *s, int32_t columns, tensor_map *map, cnn_error *)
{
    *map = {static_cast<const char *>(tensor),
            {s->channels, s->columns, s->rows, s->images},
            static_cast<uint32_t>(columns)};
    return CNN_OK;
}
cnn_status map_matrix(const void *matrix, int32_t rows, int32_t columns, tensor_map *map, cnn_error *err)
{
    const tensor_sizes sizes = {1, 1, rows, columns};
    return map_images(matrix, &sizes, 64, map, err);
}
#else
#include <dlfcn.h>

/* The driver's, which the runtime has loaded; NULL: it is older than CUDA 12. */
typedef decltype(&cuTensorMapEncodeTiled) encoder;
static encoder find_encoder()
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = driver == nullptr ? nullptr : dlsym(driver, "cuTensorMapEncodeTiled");
    if (driver != nullptr) (void)dlclose(driver);
    return reinterpret_cast<encoder>(found);
}
static encoder the_encoder()
{
    static const encoder found = find_encoder();
    return found;
}
bool cutensor_can_map() { return the_encoder() != nullptr; }

/* Sizes and box from the innermost on. */
static cnn_status make_map(const void *tensor, cuuint32_t rank, const cuuint64_t *sizes, const cuuint32_t *box,
                           tensor_map *map, cnn_error *err)
{
    const cuuint32_t each[4] = {1, 1, 1, 1};
    cuuint64_t bytes[4] = {2 * sizes[0], 0, 0, 0}; /* of a row, of all rows, ... */
    for (cuuint32_t i = 1; i < rank; i++) bytes[i] = bytes[i - 1] * sizes[i];
    const CUresult result = the_encoder()(map, CU_TENSOR_MAP_DATA_TYPE_UINT16, rank, const_cast<void *>(tensor), sizes,
                                          bytes, box, each, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                          CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result == CUDA_SUCCESS) return CNN_OK;
    return CNN_FAIL(err, CNN_DEVICE, "cuTensorMapEncodeTiled of %u dimensions, %llu numbers a row: error %d", rank,
                    static_cast<unsigned long long>(sizes[0]), result);
}

cnn_status map_matrix(const void *matrix, int32_t rows, int32_t columns, tensor_map *map, cnn_error *err)
{
    const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
    const cuuint32_t box[2] = {64, 64};
    return make_map(matrix, 2, sizes, box, map, err);
}

cnn_status map_images(const void *tensor, const tensor_sizes *s, int32_t columns, tensor_map *map, cnn_error *err)
{
    const cuuint64_t sizes[4] = {static_cast<cuuint64_t>(s->channels), static_cast<cuuint64_t>(s->columns),
                                 static_cast<cuuint64_t>(s->rows), static_cast<cuuint64_t>(s->images)};
    const cuuint32_t box[4] = {64, static_cast<cuuint32_t>(columns), 1, 1};
    return make_map(tensor, 4, sizes, box, map, err);
}
#endif
