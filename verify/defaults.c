/* defaults.c: the built-in descriptors: those that every implementation is asked for (default_problems.inc), and more
 * convolutions for one that does few of them. */
#include "verify.h"

#include <stdio.h>

const verify_default verify_defaults[] = {
#define PROBLEM(op, text) {CNN_OP_##op, text},
#include "default_problems.inc"
#undef PROBLEM
    {CNN_OP_COUNT, NULL},
};

const verify_default verify_sums_defaults[] = {
    {CNN_OP_CONV, "mb4ic16ih8oc16kh3ph1"}, {CNN_OP_FC, "mb64ic64oc64"}, {CNN_OP_DECONV, "mb4ic16ih8oc16kh3ph1"},
    {CNN_OP_CONV3D, "mb4ic8id4oc8kd3pd1"}, {CNN_OP_COUNT, NULL},
};

/* Kinds of kernels, and sizes for each: channels at multiples of what a vector or a tile holds and beside them, one
 * row, one column, one image, many. g0: depthwise, as many groups as channels. */
static const char *const kinds[] = {"kh3kw3ph1pw1",       "kh1kw1ph0pw0",       "kh5kw5ph2pw2",       "g0kh3kw3ph1pw1",
                                    "kh3kw3sh2sw2ph1pw1", "kh3kw3ph2pw2dh1dw1", "kh3kw3ph2pw3dh1dw2", "kh7kw7ph3pw3",
                                    "kh2kw2ph0pw0",       "g2kh3kw3ph1pw1",     "kh1kw3ph0pw1",       "kh3kw1ph1pw0",
                                    "kh3kw3ph0pw0",       "kh3kw3sh1sw2ph1pw1", "kh4kw4sh2sw2ph1pw1"};
static const struct {
    int mb, ic, ih, iw, oc;
} sizes[] = {{1, 1, 8, 8, 1},     {2, 3, 9, 11, 5},    {1, 4, 8, 8, 4},     {3, 8, 12, 12, 8},   {2, 16, 16, 16, 16},
             {1, 32, 14, 14, 32}, {4, 64, 7, 7, 64},   {2, 16, 28, 28, 32}, {1, 3, 32, 32, 16},  {17, 5, 6, 6, 7},
             {2, 7, 31, 17, 9},   {1, 12, 3, 40, 6},   {1, 6, 40, 3, 12},   {33, 2, 5, 5, 3},    {1, 128, 6, 6, 96},
             {8, 24, 10, 10, 40}, {1, 1, 65, 33, 17},  {5, 9, 13, 13, 10},  {2, 48, 8, 24, 16},  {1, 2, 100, 3, 4},
             {1, 16, 1, 33, 16},  {1, 16, 33, 1, 16},  {64, 4, 4, 4, 8},    {1, 8, 15, 17, 24},  {3, 32, 9, 10, 64},
             {1, 64, 20, 20, 32}, {2, 10, 7, 64, 6},   {1, 20, 64, 7, 20},  {6, 12, 12, 12, 12}, {1, 256, 4, 4, 128},
             {2, 2, 2, 2, 2},     {1, 15, 21, 19, 31}, {1, 33, 18, 18, 17}, {9, 16, 11, 11, 48}, {2, 96, 5, 5, 32},
             {1, 5, 48, 48, 5},   {4, 4, 24, 24, 4},   {1, 40, 10, 30, 8},  {7, 7, 7, 7, 7},     {2, 18, 16, 20, 14}};
/* More than four million results: beyond what 22 bits count. */
static const struct {
    int mb, ic, side, oc;
} large[] = {{5, 1, 930, 1}, {2, 16, 372, 16}};

enum { KINDS = sizeof kinds / sizeof *kinds, SIZES = sizeof sizes / sizeof *sizes };

static void put(char *text, size_t size, const char *kind, int mb, int ic, int ih, int iw, int oc)
{
    const bool depthwise = kind[0] == 'g' && kind[1] == '0';
    char groups[16] = "";
    if (depthwise) snprintf(groups, sizeof groups, "g%d", ic);
    snprintf(text, size, "%smb%dic%dih%diw%doc%d%s", groups, mb, ic, ih, iw, depthwise ? ic : oc,
             kind + (depthwise ? 2 : 0));
}

bool verify_more_text(int index, char text[VERIFY_MORE_MAX])
{
    if (index >= KINDS * SIZES) return false;
    const int s = index / KINDS;
    put(text, VERIFY_MORE_MAX, kinds[index % KINDS], sizes[s].mb, sizes[s].ic, sizes[s].ih, sizes[s].iw, sizes[s].oc);
    return true;
}

bool verify_large_text(int index, char text[VERIFY_MORE_MAX])
{
    const int s = index / KINDS;
    if (s >= (int)(sizeof large / sizeof *large)) return false;
    put(text, VERIFY_MORE_MAX, kinds[index % KINDS], large[s].mb, large[s].ic, large[s].side, large[s].side,
        large[s].oc);
    return true;
}
