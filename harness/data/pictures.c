/* pictures.c: colours for a mask, so that synthetic digits of three channels are as hard to tell apart as photographs'
 * objects: neither colour nor brightness says where the object is. */
#include "data_parts.h"
#include "harness/base/rng.h"

enum { CHANNELS = 3, LEAST_CONTRAST = 150 };

typedef struct colour {
    double of[CHANNELS];
} colour;

static colour draw_colour(cnn_rng *rng)
{
    colour c;
    for (int k = 0; k < CHANNELS; k++) c.of[k] = rng_real(rng, 0.0, 255.0);
    return c;
}

/* The sum of the channels' differences. */
static double contrast(colour a, colour b)
{
    double sum = 0.0;
    for (int k = 0; k < CHANNELS; k++) sum += fabs(a.of[k] - b.of[k]);
    return sum;
}

static colour between(colour from, colour to, double share)
{
    colour c;
    for (int k = 0; k < CHANNELS; k++) c.of[k] = from.of[k] + share * (to.of[k] - from.of[k]);
    return c;
}

/* A colour that differs from all that the ground runs through, or the last that was tried. */
static colour draw_object(cnn_rng *rng, colour from, colour to)
{
    colour object = draw_colour(rng);
    for (int tries = 0; tries < 100; tries++) {
        bool differs = true;
        for (int i = 0; i <= 4; i++)
            differs = differs && contrast(object, between(from, to, 0.25 * i)) >= LEAST_CONTRAST;
        if (differs) break;
        object = draw_colour(rng);
    }
    return object;
}

/* A ground that runs evenly from one colour to another, in any direction, and an object of a third;
 * the mask is how much of a pixel is the object's. */
void picture_paint(cnn_rng *rng, int64_t h, int64_t w, uint8_t *image)
{
    const colour from = draw_colour(rng), to = draw_colour(rng);
    const double angle = rng_real(rng, 0.0, 6.283185307179586), cosine = cos(angle), sine = sin(angle);
    const colour object = draw_object(rng, from, to);
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            const double dx = ((double)x + 0.5) / (double)w - 0.5, dy = ((double)y + 0.5) / (double)h - 0.5;
            const double along = 0.5 + (cosine * dx + sine * dy) / 1.4142135623730951;
            uint8_t *pixel = image + y * w + x;
            const colour painted = between(between(from, to, along), object, *pixel / 255.0);
            for (int k = 0; k < CHANNELS; k++) pixel[k * h * w] = (uint8_t)painted.of[k];
        }
}
