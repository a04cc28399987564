/* dataset.c: what every data set has, wherever it comes from: freeing, its mean, pixels -> numbers. */
#include "dataset.h"

#include "data_parts.h"
#include "harness/cnn/half.h"

#include <stdlib.h>
#include <string.h>

void dataset_free(dataset *data)
{
    free(data->train.images);
    free(data->train.labels);
    free(data->test.images);
    free(data->test.labels);
    free(data->means);
    memset(data, 0, sizeof *data);
}

cnn_status dataset_find_mean(dataset *data, cnn_error *err)
{
    const int64_t hw = data->h * data->w, images = data->train.count;
    uint64_t all = 0; /* exact: at most 255 * 2^56 */
    data->mean = 0.0;
    if (data->preprocess != DATASET_MEAN) return CNN_OK;
    if (data->c > 1 && (data->means = calloc((size_t)data->c, sizeof *data->means)) == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the means of %lld channels", (long long)data->c);
    for (int64_t k = 0; k < data->c; k++) {
        uint64_t sum = 0;
        for (int64_t n = 0; n < images; n++)
            for (int64_t p = 0; p < hw; p++) sum += data->train.images[(n * data->c + k) * hw + p];
        if (data->means != NULL) data->means[k] = (double)sum / 255.0 / (double)(images * hw);
        all += sum;
    }
    data->mean = (double)all / 255.0 / (double)(images * data->c * hw);
    return CNN_OK;
}

cnn_status dataset_limit(dataset_part *part, int64_t limit, const char *what, const char *where, cnn_error *err)
{
    if (limit < 0 || limit > part->count)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%lld %s images asked for: %s has %lld", (long long)limit, what, where,
                        (long long)part->count);
    if (limit > 0) part->count = limit;
    return CNN_OK;
}

cnn_status dataset_finish(cnn_status status, const char *where, const dataset_params *params, dataset *data,
                          cnn_error *err)
{
    if (status == CNN_OK) status = dataset_limit(&data->train, params->train_images, "training", where, err);
    if (status == CNN_OK) status = dataset_limit(&data->test, params->test_images, "test", where, err);
    if (status == CNN_OK) status = dataset_find_mean(data, err);
    if (status != CNN_OK) dataset_free(data);
    return status;
}

/* What a pixel of 1 comes to, before the mean is taken off. */
static double scale_of(const dataset *data, const uint8_t *image)
{
    uint8_t most = 0;
    if (data->preprocess != DATASET_PROPORTIONAL) return 255.0;
    for (int64_t p = 0; p < data->c * data->h * data->w; p++) most = image[p] > most ? image[p] : most;
    return most > 0 ? most : 255.0;
}

/* Images, channel by channel, through a table of the 256 values; `step` elements from pixel to pixel in `out`. The
 * table is filled anew where the scale or the channel's mean is another. */
#define CONVERT(name, type, number)                                                                                    \
    static void name(const dataset *data, const uint8_t *in, int64_t count, bool nhwc, type *out)                      \
    {                                                                                                                  \
        const int64_t hw = data->h * data->w, c = data->c, step = nhwc ? c : 1, plane = nhwc ? 1 : hw;                 \
        type table[256];                                                                                               \
        double filled = 0, off = 0;                                                                                    \
        for (int64_t n = 0; n < count; n++) {                                                                          \
            const double scale = scale_of(data, in + n * c * hw);                                                      \
            for (int64_t k = 0; k < c; k++) {                                                                          \
                const double mean = data->means != NULL ? data->means[k] : data->mean;                                 \
                const bool other = scale < filled || scale > filled || mean < off || mean > off;                       \
                for (int v = 0; v < 256 && other; v++) table[v] = number(v / scale - mean);                            \
                filled = scale, off = mean;                                                                            \
                for (int64_t p = 0; p < hw; p++)                                                                       \
                    out[n * c * hw + k * plane + p * step] = table[in[(n * c + k) * hw + p]];                          \
            }                                                                                                          \
        }                                                                                                              \
    }
#define AS_F16(value) cnn_half_from(cnn_half_of(CNN_F16), value)
#define AS_BF16(value) cnn_half_from(cnn_half_of(CNN_BF16), value)
CONVERT(convert_f32, float, (float))
CONVERT(convert_f64, double, (double))
CONVERT(convert_f16, uint16_t, AS_F16)
CONVERT(convert_bf16, uint16_t, AS_BF16)

void dataset_rows(const dataset *data, const dataset_part *part, int64_t first, int64_t count, const cnn_type *type,
                  void *out)
{
    const uint8_t *in = part->images + first * data->c * data->h * data->w;
    const bool nhwc = type->layout == CNN_NHWC;
    if (type->dtype == CNN_F32)
        convert_f32(data, in, count, nhwc, out);
    else if (type->dtype == CNN_F16)
        convert_f16(data, in, count, nhwc, out);
    else if (type->dtype == CNN_BF16)
        convert_bf16(data, in, count, nhwc, out);
    else
        convert_f64(data, in, count, nhwc, out);
}

void dataset_histogram(const dataset *data, const dataset_part *part, int64_t *histogram)
{
    memset(histogram, 0, (size_t)data->classes * sizeof *histogram);
    for (int64_t i = 0; i < part->count; i++) histogram[part->labels[i]]++;
}
