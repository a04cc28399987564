/* test_keyed_hash.c: SipHash-2-4 against the values that its authors published. */
#include "harness/base/keyed_hash.h"
#include "tests/unit.h"

static void published_values(void **state)
{
    static const struct {
        size_t length;
        uint64_t hash;
    } rows[] = {
        {0, 0x726fdb47dd0e0e31u}, {1, 0x74f839c593dc67fdu}, {8, 0x93f5f5799a932462u}, {15, 0xa129ca6149be45e5u}};
    const hash_key key = {{0x0706050403020100u, 0x0f0e0d0c0b0a0908u}};
    unsigned char bytes[16];
    for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)i;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(keyed_hash(&key, bytes, rows[i].length) == rows[i].hash);
}

static void keys_differ(void **state)
{
    const hash_key a = hash_new_key(), b = hash_new_key();
    assert_true(keyed_hash(&a, "record", 6) != keyed_hash(&b, "record", 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_values), cmocka_unit_test(keys_differ)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
