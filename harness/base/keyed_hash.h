/* keyed_hash.h: SipHash-2-4 (J.-P. Aumasson, D. J. Bernstein, 2012): who does not know the key can neither tell the
 * hash of some bytes nor find others with the same one. */
#ifndef HARNESS_BASE_KEYED_HASH_H
#define HARNESS_BASE_KEYED_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct hash_key {
    uint64_t half[2];
} hash_key;

/* Of the system's random numbers. */
hash_key hash_new_key(void);
uint64_t keyed_hash(const hash_key *key, const void *bytes, size_t length);

#endif
