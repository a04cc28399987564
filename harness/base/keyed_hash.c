/* keyed_hash.c: see keyed_hash.h. */
#include "keyed_hash.h"

#include "clock.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

hash_key hash_new_key(void)
{
    hash_key key;
    if (getrandom(&key, sizeof key, 0) != (ssize_t)sizeof key)
        key = (hash_key){{(uint64_t)(cnn_now() * 1e9), (uint64_t)getpid()}};
    return key;
}

static uint64_t turn(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static void rounds(uint64_t v[4], int count)
{
    for (int i = 0; i < count; i++) {
        v[0] += v[1], v[1] = turn(v[1], 13) ^ v[0], v[0] = turn(v[0], 32);
        v[2] += v[3], v[3] = turn(v[3], 16) ^ v[2];
        v[0] += v[3], v[3] = turn(v[3], 21) ^ v[0];
        v[2] += v[1], v[1] = turn(v[1], 17) ^ v[2], v[2] = turn(v[2], 32);
    }
}

static void add_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    rounds(v, 2);
    v[0] ^= word;
}

static uint64_t word_of(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++) word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

uint64_t keyed_hash(const hash_key *key, const void *bytes, size_t length)
{
    const uint64_t a = key->half[0], b = key->half[1];
    uint64_t v[4] = {a ^ 0x736f6d6570736575u, b ^ 0x646f72616e646f6du, a ^ 0x6c7967656e657261u,
                     b ^ 0x7465646279746573u};
    const unsigned char *at = bytes;
    const size_t rest = length % 8;
    for (size_t left = length / 8; left > 0; left--, at += 8) add_word(v, word_of(at, 8));
    add_word(v, word_of(at, rest) | (uint64_t)length << 56);
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
