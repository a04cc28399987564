/* md5.c: MD5 (RFC 1321), to tell a damaged or wrong download from MNIST; not for security. */
#include "data_parts.h"

#include <math.h>
#include <string.h>

static uint32_t rotate(uint32_t v, unsigned by) { return (v << by) | (v >> (32 - by)); }

/* The additive constants of the RFC are floor(2^32 * |sin(i + 1)|). */
static uint32_t sine(int i) { return (uint32_t)floor(4294967296.0 * fabs(sin((double)i + 1.0))); }

static void md5_block(md5_state *md5, const uint32_t table[64], const uint8_t *block)
{
    static const unsigned shift[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t x[16], a = md5->word[0], b = md5->word[1], c = md5->word[2], d = md5->word[3];
    for (int i = 0; i < 16; i++)
        x[i] = (uint32_t)block[4 * i] | (uint32_t)block[4 * i + 1] << 8 | (uint32_t)block[4 * i + 2] << 16 |
               (uint32_t)block[4 * i + 3] << 24;
    for (int i = 0; i < 64; i++) {
        uint32_t f;
        int k;
        switch (i / 16) {
        case 0:
            f = (b & c) | (~b & d), k = i;
            break;
        case 1:
            f = (b & d) | (c & ~d), k = (5 * i + 1) % 16;
            break;
        case 2:
            f = b ^ c ^ d, k = (3 * i + 5) % 16;
            break;
        default:
            f = c ^ (b | ~d), k = (7 * i) % 16;
            break;
        }
        const uint32_t next = b + rotate(a + f + x[k] + table[i], shift[i / 16][i % 4]);
        a = d;
        d = c;
        c = b;
        b = next;
    }
    md5->word[0] += a;
    md5->word[1] += b;
    md5->word[2] += c;
    md5->word[3] += d;
}

void md5_start(md5_state *md5) { *md5 = (md5_state){{0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u}, 0, {0}}; }

void md5_add(md5_state *md5, const uint8_t *bytes, size_t count)
{
    uint32_t table[64];
    for (int i = 0; i < 64; i++) table[i] = sine(i);
    while (count > 0) {
        const size_t at = md5->bytes % 64, n = count < 64 - at ? count : 64 - at;
        memcpy(md5->block + at, bytes, n);
        md5->bytes += n;
        bytes += n;
        count -= n;
        if (md5->bytes % 64 == 0) md5_block(md5, table, md5->block);
    }
}

void md5_end(md5_state *md5, char hex[33])
{
    static const uint8_t pad[64] = {0x80};
    const uint64_t bits = md5->bytes * 8;
    uint8_t length[8];
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (8 * i));
    const size_t at = md5->bytes % 64;
    md5_add(md5, pad, at < 56 ? 56 - at : 120 - at);
    md5_add(md5, length, 8);
    for (int i = 0; i < 16; i++) snprintf(hex + 2 * i, 3, "%02x", (md5->word[i / 4] >> (8 * (i % 4))) & 0xffu);
}
