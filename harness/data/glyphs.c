/* glyphs.c: how the ten digits are drawn, each in two ways, as strokes on a grid of 20 x 20 (x to the right, y down).
 */
#include "data_parts.h"

#define UP                                                                                                             \
    {                                                                                                                  \
        PEN_UP, PEN_UP                                                                                                 \
    }

static const glyph_point zero[] = {{10, 1},  {6, 3},   {4, 7},  {4, 13}, {6, 17}, {10, 19},
                                   {14, 17}, {16, 13}, {16, 7}, {14, 3}, {10, 1}};
static const glyph_point zero_narrow[] = {{11, 1},  {8, 2},   {6, 8},  {6, 14}, {8, 18},
                                          {11, 19}, {14, 14}, {14, 6}, {11, 1}};
static const glyph_point one[] = {{6, 5}, {10, 1}, {10, 19}};
static const glyph_point one_based[] = {{7, 4}, {10, 1}, {10, 19}, UP, {6, 19}, {14, 19}};
static const glyph_point two[] = {{4, 6}, {6, 2}, {10, 1}, {14, 2}, {16, 6}, {13, 11}, {4, 19}, {16, 19}};
static const glyph_point two_looped[] = {{5, 5},  {8, 1},  {13, 2}, {14, 7},  {9, 14},
                                         {5, 18}, {4, 16}, {7, 15}, {12, 18}, {17, 18}};
static const glyph_point three[] = {{4, 3},   {9, 1},   {14, 2},  {15, 6}, {13, 9}, {9, 10},
                                    {14, 11}, {16, 15}, {13, 18}, {8, 19}, {4, 17}};
static const glyph_point three_flat[] = {{4, 1}, {15, 1}, {9, 8}, {14, 10}, {16, 14}, {13, 18}, {8, 19}, {4, 17}};
static const glyph_point four[] = {{13, 19}, {13, 1}, {4, 13}, {17, 13}};
static const glyph_point four_open[] = {{5, 2}, {4, 10}, {15, 10}, UP, {14, 2}, {14, 19}};
static const glyph_point five[] = {{15, 1}, {6, 1}, {5, 9}, {10, 8}, {15, 10}, {16, 14}, {13, 18}, {8, 19}, {4, 17}};
static const glyph_point five_sharp[] = {{16, 2}, {7, 2}, {5, 10}, {14, 10}, {15, 16}, {10, 19}, {4, 18}};
static const glyph_point six[] = {{14, 1},  {8, 4},   {5, 10},  {4, 15},  {7, 19},
                                  {12, 19}, {15, 16}, {14, 12}, {10, 10}, {5, 13}};
static const glyph_point six_straight[] = {{9, 1}, {6, 8}, {5, 15}, {8, 19}, {13, 18}, {14, 14}, {10, 12}, {6, 14}};
static const glyph_point seven[] = {{4, 1}, {16, 1}, {8, 19}};
static const glyph_point seven_barred[] = {{4, 2}, {16, 1}, {9, 19}, UP, {7, 10}, {15, 10}};
static const glyph_point eight[] = {{10, 1}, {6, 3},  {6, 7},   {10, 10}, {15, 13}, {15, 17}, {10, 19},
                                    {5, 17}, {5, 13}, {10, 10}, {14, 7},  {14, 3},  {10, 1}};
static const glyph_point eight_slant[] = {{14, 3}, {9, 1},  {6, 4},  {9, 9},  {14, 14}, {12, 18},
                                          {7, 19}, {5, 15}, {9, 10}, {14, 5}, {14, 3}};
static const glyph_point nine[] = {{15, 7}, {12, 10}, {7, 10}, {5, 6}, {7, 2}, {12, 1}, {15, 5}, {15, 11}, {12, 19}};
static const glyph_point nine_straight[] = {{14, 2}, {9, 1}, {6, 4}, {7, 9}, {12, 9}, {14, 5}, {14, 2}, {14, 19}};

#undef UP

#define ROW(points)                                                                                                    \
    {                                                                                                                  \
        points, (int)(sizeof(points) / sizeof(points)[0])                                                              \
    }
static const struct {
    const glyph_point *points;
    int count;
} glyphs[10][GLYPH_VARIANTS] = {
    {ROW(zero), ROW(zero_narrow)},   {ROW(one), ROW(one_based)},      {ROW(two), ROW(two_looped)},
    {ROW(three), ROW(three_flat)},   {ROW(four), ROW(four_open)},     {ROW(five), ROW(five_sharp)},
    {ROW(six), ROW(six_straight)},   {ROW(seven), ROW(seven_barred)}, {ROW(eight), ROW(eight_slant)},
    {ROW(nine), ROW(nine_straight)},
};
#undef ROW

const glyph_point *glyph(int digit, int variant, int *count)
{
    *count = glyphs[digit][variant].count;
    return glyphs[digit][variant].points;
}
