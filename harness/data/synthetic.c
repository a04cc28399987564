/* synthetic.c: digits drawn as strokes under a random affine map, with random thickness, brightness and noise; of three
 * channels they are painted (pictures.c).
 *
 * Each image has a random stream of its own, so that any number of threads makes the same images, and the first N
 * images are the same however many are asked for. */
#include "../cpu/threads.h"
#include "data_parts.h"
#include "harness/base/rng.h"
#include "harness/problem/shape.h"

#include <stdlib.h>
#include <string.h>

enum { IMAGES_PER_TASK = 256, MAX_POINTS = 16 };

typedef struct synthesis {
    const dataset *data;
    dataset_part *part;
    uint64_t seed, stream;
} synthesis;

typedef struct point {
    float x, y;
    bool up;
} point;

/* From the grid to pixels: jitter of every point; scale, slant, rotation about the middle; a shift. */
static int place_points(cnn_rng *rng, int digit, int64_t h, int64_t w, point *out)
{
    int count = 0;
    const glyph_point *in = glyph(digit, (int)rng_int(rng, 0, GLYPH_VARIANTS - 1), &count);
    const double size = 0.72 * (double)(h < w ? h : w);
    const double sx = rng_real(rng, 0.6, 1.1), sy = rng_real(rng, 0.75, 1.1), slant = rng_real(rng, -0.35, 0.35);
    const double angle = 0.2 * rng_normal(rng), cosine = cos(angle), sine = sin(angle);
    const double tx = 0.5 * (double)(w - 1) + rng_real(rng, -0.1, 0.1) * (double)w;
    const double ty = 0.5 * (double)(h - 1) + rng_real(rng, -0.1, 0.1) * (double)h;
    for (int i = 0; i < count; i++) {
        out[i].up = in[i].x == PEN_UP;
        const double gx = (in[i].x + rng_real(rng, -1.0, 1.0)) / GLYPH_GRID - 0.5;
        const double gy = (in[i].y + rng_real(rng, -1.0, 1.0)) / GLYPH_GRID - 0.5;
        const double x = sx * (gx - slant * gy), y = sy * gy;
        out[i].x = (float)(tx + size * (cosine * x - sine * y));
        out[i].y = (float)(ty + size * (sine * x + cosine * y));
    }
    return count;
}

static int64_t clamp(float v, int64_t max) { return v < 0 ? 0 : v > (float)max ? max : (int64_t)v; }

/* A line with round ends; the brighter of what is there and what is drawn stays. Coverage falls from 1 to 0 over one
 * pixel at the edge. Only the pixels around the line are touched. */
static void draw_line(point a, point b, float radius, uint8_t bright, int64_t h, int64_t w, uint8_t *image)
{
    const float reach = radius + 1.0f, dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    const int64_t x0 = clamp(fminf(a.x, b.x) - reach, w - 1), x1 = clamp(fmaxf(a.x, b.x) + reach, w - 1);
    const int64_t y0 = clamp(fminf(a.y, b.y) - reach, h - 1), y1 = clamp(fmaxf(a.y, b.y) + reach, h - 1);
    for (int64_t y = y0; y <= y1; y++)
        for (int64_t x = x0; x <= x1; x++) {
            const float px = (float)x - a.x, py = (float)y - a.y;
            float t = length2 > 0.0f ? (px * dx + py * dy) / length2 : 0.0f;
            t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
            const float ex = px - t * dx, ey = py - t * dy, inside = radius + 0.5f - sqrtf(ex * ex + ey * ey);
            if (inside <= 0.0f) continue;
            const uint8_t value = (uint8_t)((float)bright * (inside < 1.0f ? inside : 1.0f));
            if (value > image[y * w + x]) image[y * w + x] = value;
        }
}

/* Adds or takes away up to `amount`, the sum of two draws (a triangle); eight pixels from two 64-bit draws. */
static void add_noise(cnn_rng *rng, int amount, int64_t pixels, uint8_t *image)
{
    for (int64_t p = 0; p < pixels; p += 8) {
        uint64_t a = rng_u64(rng), b = rng_u64(rng);
        for (int64_t i = p; i < p + 8 && i < pixels; i++, a >>= 8, b >>= 8) {
            const int value = image[i] + (((int)(a & 255) + (int)(b & 255) - 255) * amount) / 256;
            image[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
        }
    }
}

static void make_image(const synthesis *s, int64_t index)
{
    const int64_t c = s->data->c, h = s->data->h, w = s->data->w;
    uint8_t *image = s->part->images + index * c * h * w;
    cnn_rng rng = rng_stream(s->seed, s->stream + (uint64_t)index);
    point points[MAX_POINTS];
    const int digit = (int)rng_int(&rng, 0, DATASET_CLASSES - 1);
    const int count = place_points(&rng, digit, h, w, points);
    const float radius = (float)(rng_real(&rng, 0.02, 0.055) * (double)(h < w ? h : w));
    memset(image, 0, (size_t)(c * h * w));
    for (int64_t k = 0; k < (c == CIFAR10_CHANNELS ? 1 : c); k++) {
        const uint8_t bright = c == CIFAR10_CHANNELS ? 255 : (uint8_t)rng_int(&rng, 120, 255);
        for (int i = 1; i < count; i++)
            if (!points[i - 1].up && !points[i].up)
                draw_line(points[i - 1], points[i], radius, bright, h, w, image + k * h * w);
    }
    if (c == CIFAR10_CHANNELS) picture_paint(&rng, h, w, image);
    add_noise(&rng, (int)rng_int(&rng, 0, 90), c * h * w, image);
    s->part->labels[index] = digit;
}

static void make_images(void *arg, int64_t task, int worker)
{
    const synthesis *s = arg;
    (void)worker;
    const int64_t first = task * IMAGES_PER_TASK;
    for (int64_t i = first; i < first + IMAGES_PER_TASK && i < s->part->count; i++) make_image(s, i);
}

static cnn_status make_part(thread_pool *pool, const dataset *data, dataset_part *part, int64_t count, uint64_t seed,
                            uint64_t stream, cnn_error *err)
{
    int64_t pixels = 0;
    if (!cnn_mul4(count, data->c, data->h, data->w, &pixels))
        return CNN_FAIL(err, CNN_OVERFLOW, "%lld images of %lld x %lld x %lld overflow", (long long)count,
                        (long long)data->c, (long long)data->h, (long long)data->w);
    part->images = malloc((size_t)pixels);
    part->labels = malloc((size_t)count * sizeof *part->labels);
    if (part->images == NULL || part->labels == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %lld synthetic images of %lld x %lld x %lld",
                        (long long)count, (long long)data->c, (long long)data->h, (long long)data->w);
    part->count = count;
    synthesis s = {data, part, seed, stream};
    parallel_for(pool, (count + IMAGES_PER_TASK - 1) / IMAGES_PER_TASK, make_images, &s);
    return CNN_OK;
}

cnn_status dataset_synthetic(const dataset_params *params, dataset *data, cnn_error *err)
{
    const bool pictures = params->c == CIFAR10_CHANNELS;
    const int64_t all = pictures ? CIFAR10_TRAIN : DATASET_TRAIN;
    const int64_t train = params->train_images > 0 ? params->train_images : all;
    const int64_t test = params->test_images > 0 ? params->test_images : DATASET_TEST;
    thread_pool *pool = NULL;
    memset(data, 0, sizeof *data);
    if (params->train_images < 0 || train > all)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%lld training images asked for: the synthetic set has %lld",
                        (long long)params->train_images, (long long)all);
    if (params->test_images < 0 || test > DATASET_TEST)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%lld test images asked for: the synthetic set has %d",
                        (long long)params->test_images, DATASET_TEST);
    data->c = params->c > 0 ? params->c : 1;
    data->h = params->h > 0 ? params->h : 28;
    data->w = params->w > 0 ? params->w : 28;
    data->classes = DATASET_CLASSES;
    data->preprocess = params->preprocess;
    snprintf(data->name, sizeof data->name, "synthetic%s", pictures ? "_pictures" : "");
    snprintf(data->source, sizeof data->source, "synthetic %s, seed %llu", pictures ? "pictures" : "digits",
             (unsigned long long)params->seed);
    cnn_status status = thread_pool_open(params->threads > 0 ? params->threads : 1, &pool, err);
    if (status != CNN_OK) return status;
    status = make_part(pool, data, &data->train, train, params->seed, (uint64_t)1 << 40, err);
    if (status == CNN_OK) status = make_part(pool, data, &data->test, test, params->seed, (uint64_t)2 << 40, err);
    thread_pool_close(pool);
    return dataset_finish(status, data->name, params, data, err);
}
