/* precision_factors.c: a product of numbers whose bits are random betrays which of its factors lost bits. Each guess is
 * computed, and counted where it is what came; f32 rounds on top, so 2^-20 is equal enough, and no two guesses come so
 * close by chance in nine of ten products. */
#include "precision_factors.h"

#include "harness/base/text.h"

#include <math.h>

/* Significant bits, the first one included, and how many such numbers stand for one: the rest of a first one is in a
 * second. (f16 keeps as many bits as tf32.) */
static const struct {
    const char *name;
    int bits, parts;
} formats[VF_NARROW_FORMATS] = {{"bf16", 8, 1}, {"tf32", 11, 1}, {"two numbers of bf16", 8, 2}};

static const char *const ways[VF_NARROW_WAYS] = {"rounded", "cut"};

static double narrow_once(double v, int bits, bool cut)
{
    int exponent;
    const double scaled = ldexp(frexp(v, &exponent), bits);
    return ldexp(cut ? trunc(scaled) : nearbyint(scaled), exponent - bits);
}

static double narrow(double v, int format, bool cut)
{
    const double first = narrow_once(v, formats[format].bits, cut);
    return formats[format].parts == 1 ? first : first + narrow_once(v - first, formats[format].bits, cut);
}

void vf_votes_add(vf_votes *votes, double first, double second, double got)
{
    votes->count++;
    for (int f = 0; f < VF_NARROW_FORMATS; f++)
        for (int cut = 0; cut < VF_NARROW_WAYS; cut++) {
            const double a = narrow(first, f, cut), b = narrow(second, f, cut);
            const double guesses[VF_NARROWED] = {a * second, first * b, a * b, narrow(first * second, f, cut)};
            for (int n = 0; n < VF_NARROWED; n++)
                votes->votes[f][cut][n] += fabs(got - guesses[n]) <= 0x1p-20 * fabs(guesses[n]);
        }
}

bool vf_votes_text(const vf_votes *votes, const char *first, const char *second, char *text, size_t size)
{
    text[0] = '\0';
    for (int f = 0; f < VF_NARROW_FORMATS; f++)
        for (int cut = 0; cut < VF_NARROW_WAYS; cut++)
            for (int n = 0; n < VF_NARROWED; n++) {
                if (votes->votes[f][cut][n] * 10 < votes->count * 9 || votes->count == 0) continue;
                if (n < 2)
                    cnn_append(text, size, "%s is %s to %s, %s is not", n == 0 ? first : second, ways[cut],
                               formats[f].name, n == 0 ? second : first);
                else if (n == 2)
                    cnn_append(text, size, "%s and %s are %s to %s", first, second, ways[cut], formats[f].name);
                else
                    cnn_append(text, size, "products, or what they are added up in, are %s to %s", ways[cut],
                               formats[f].name);
                return true;
            }
    return false;
}
