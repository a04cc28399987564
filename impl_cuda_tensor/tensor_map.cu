/* tensor_map.cu: maps of tensors, which the driver makes. */
#include "impl_cuda_tensor/tensor_map.h"

#ifdef BENCHCNN_CUDA_EMULATED
bool cutensor_can_map() { return true; }

cnn_status map_images(const void *tensor, const tensor_sizes *s, int32_t columns, tensor_map *map, cnn_error *)
{
    *map = {};
    map->tensor = static_cast<const char *>(tensor);
    map->sizes[0] = s->channels, map->sizes[1] = s->columns, map->sizes[2] = s->rows, map->sizes[3] = s->images;
    map->apart = s->channels;
    map->columns = static_cast<uint32_t>(columns);
    return CNN_OK;
}
cnn_status map_taps(const void *tensor, const tensor_taps *t, tensor_map *map, cnn_error *err)
{
    const cutensor_window *w = t->window;
    const cnn_status status = map_images(tensor, &t->images, t->pixels, map, err);
    map->apart = t->apart;
    map->first_row = -w->pad_h, map->last_row = (w->oh - 1) * w->mul_h - w->pad_h, map->down = w->mul_h;
    map->first_column = -w->pad_w, map->last_column = (w->ow - 1) * w->mul_w - w->pad_w, map->right = w->mul_w;
    return status;
}
cnn_status map_matrix(const void *matrix, int32_t rows, int32_t columns, tensor_map *map, cnn_error *err)
{
    const tensor_sizes sizes = {1, 1, rows, columns};
    return map_images(matrix, &sizes, 64, map, err);
}
#else
#include <dlfcn.h>

/* The driver's, which the runtime has loaded; NULL: it is older than CUDA 12. */
struct encoders {
    decltype(&cuTensorMapEncodeTiled) of_boxes;
    decltype(&cuTensorMapEncodeIm2col) of_taps;
};
static encoders find_encoders()
{
    encoders found = {nullptr, nullptr};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver == nullptr) return found;
    found.of_boxes = reinterpret_cast<decltype(found.of_boxes)>(dlsym(driver, "cuTensorMapEncodeTiled"));
    found.of_taps = reinterpret_cast<decltype(found.of_taps)>(dlsym(driver, "cuTensorMapEncodeIm2col"));
    (void)dlclose(driver);
    return found;
}
static const encoders &the_encoders()
{
    static const encoders found = find_encoders();
    return found;
}
bool cutensor_can_map() { return the_encoders().of_boxes != nullptr && the_encoders().of_taps != nullptr; }

/* Strides of all dimensions but the first, in bytes; the second one's pixels are so many numbers apart. */
static void put_strides(const cuuint64_t *sizes, cuuint32_t rank, cuuint64_t apart, cuuint64_t *bytes)
{
    bytes[0] = 2 * apart;
    for (cuuint32_t i = 1; i < rank - 1; i++) bytes[i] = bytes[i - 1] * sizes[i];
}

/* Sizes and box from the innermost on. */
static cnn_status make_map(const void *tensor, cuuint32_t rank, const cuuint64_t *sizes, const cuuint32_t *box,
                           tensor_map *map, cnn_error *err)
{
    const cuuint32_t each[4] = {1, 1, 1, 1};
    cuuint64_t bytes[3];
    put_strides(sizes, rank, sizes[0], bytes);
    const CUresult result =
        the_encoders().of_boxes(map, CU_TENSOR_MAP_DATA_TYPE_UINT16, rank, const_cast<void *>(tensor), sizes, bytes,
                                box, each, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
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

/* The hardware takes a window's corner from the lower bound on, by strides, as long as it is not above the upper one,
 * which counts from the last pixel. */
cnn_status map_taps(const void *tensor, const tensor_taps *t, tensor_map *map, cnn_error *err)
{
    const cutensor_window *w = t->window;
    const tensor_sizes *s = &t->images;
    const cuuint64_t sizes[4] = {static_cast<cuuint64_t>(s->channels), static_cast<cuuint64_t>(s->columns),
                                 static_cast<cuuint64_t>(s->rows), static_cast<cuuint64_t>(s->images)};
    const int lower[2] = {-w->pad_w, -w->pad_h};
    const int upper[2] = {(w->ow - 1) * w->mul_w - w->pad_w - (w->iw - 1),
                          (w->oh - 1) * w->mul_h - w->pad_h - (w->ih - 1)};
    const cuuint32_t each[4] = {1, static_cast<cuuint32_t>(w->mul_w), static_cast<cuuint32_t>(w->mul_h), 1};
    cuuint64_t bytes[3];
    put_strides(sizes, 4, static_cast<cuuint64_t>(t->apart), bytes);
    const CUresult result = the_encoders().of_taps(
        map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 4, const_cast<void *>(tensor), sizes, bytes, lower, upper, 64,
        static_cast<cuuint32_t>(t->pixels), each, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result == CUDA_SUCCESS) return CNN_OK;
    return CNN_FAIL(err, CNN_DEVICE, "cuTensorMapEncodeIm2col of %d x %d pixels, strides %d x %d: error %d", w->ih,
                    w->iw, w->mul_h, w->mul_w, result);
}
#endif
