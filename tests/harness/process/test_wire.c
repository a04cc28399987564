/* test_wire.c: messages between processes are taken as they were sent; of what is none, nothing is believed. Blocks of
 * the memory that they share do not touch one another. */
#include "harness/process/region.h"
#include "harness/process/wire.h"
#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void sends_what_was_put(void **state)
{
    (void)state;
    int pair[2], number = 7, got = 0;
    wire_message out = {.what = 0}, in = {.what = 0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    wire_begin(&out, 12);
    WIRE_PUT(&out, number);
    wire_put_text(&out, "a text that is cut", 6);
    wire_put_text(&out, NULL, 6);
    assert_true(wire_send(pair[0], &out) && wire_receive(pair[1], &in));
    assert_int_equal(in.what, 12);
    WIRE_TAKE(&in, got);
    assert_int_equal(got, 7);
    assert_string_equal(wire_take_text(&in), "a text");
    assert_false(wire_whole(&in));
    assert_null(wire_take_text(&in));
    assert_true(wire_whole(&in));
    close(pair[0]);
    assert_false(wire_receive(pair[1], &in));
    close(pair[1]);
    wire_free(&out);
    wire_free(&in);
}

static void believes_no_text_without_an_end(void **state)
{
    (void)state;
    static const char open_text[] = {1, 'a', 'b'};
    wire_message m = {.what = 0};
    wire_begin(&m, 0);
    wire_put(&m, open_text, sizeof open_text);
    assert_null(wire_take_text(&m));
    assert_false(wire_whole(&m));
    wire_free(&m);
}

static void takes_no_more_than_came(void **state)
{
    (void)state;
    char little = 1, much[64];
    wire_message m = {.what = 0};
    wire_begin(&m, 0);
    WIRE_PUT(&m, little);
    memset(much, 9, sizeof much);
    WIRE_TAKE(&m, much);
    for (size_t i = 0; i < sizeof much; i++) assert_int_equal(much[i], 0);
    WIRE_TAKE(&m, little); /* nor what would be there */
    assert_int_equal(little, 0);
    assert_false(wire_whole(&m));
    assert_null(wire_take_text(&m));
    wire_free(&m);
}

static void refuses_a_length_that_is_none(void **state)
{
    (void)state;
    const uint32_t head[2] = {3, UINT32_MAX};
    int pair[2];
    wire_message m = {.what = 0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(send(pair[0], head, sizeof head, 0), sizeof head);
    assert_false(wire_receive(pair[1], &m));
    close(pair[0]);
    close(pair[1]);
    wire_free(&m);
}

static void gives_blocks_apart(void **state)
{
    (void)state;
    enum { BLOCKS = 5 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = page + 1;
    cnn_error err;
    region r;
    int fd;
    size_t whole;
    char *blocks[BLOCKS];
    assert_int_equal(region_make(&r, 64 * page, &fd, &err), CNN_OK);
    assert_true(ftruncate(fd, 0) != 0); /* nobody takes it away */
    close(fd);
    for (int i = 0; i < BLOCKS; i++) {
        assert_non_null(blocks[i] = region_take(&r, bytes));
        for (size_t k = 0; k < 2 * page; k++) assert_int_equal(blocks[i][k], 0);
        memset(blocks[i], i + 1, 2 * page);
    }
    for (int i = 0; i < BLOCKS; i++)
        for (int k = 0; k < i; k++) assert_true((size_t)labs(blocks[i] - blocks[k]) >= 3 * page);
    assert_ptr_equal(region_block_of(&r, blocks[2] + 64, &whole), blocks[2]);
    assert_int_equal(whole, 2 * page);
    assert_null(region_block_of(&r, blocks[2] + page, &whole));
    region_give(&r, blocks[2]);
    assert_ptr_equal(region_take(&r, bytes), blocks[2]); /* the gap, all zeros again */
    for (size_t k = 0; k < 2 * page; k++) assert_int_equal(blocks[2][k], 0);
    assert_int_equal(blocks[1][0], 2);
    assert_int_equal(blocks[3][0], 4);
    assert_null(region_take(&r, 64 * page));
    assert_null(region_take(&r, SIZE_MAX));
    region_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_what_was_put),      cmocka_unit_test(believes_no_text_without_an_end),
        cmocka_unit_test(takes_no_more_than_came), cmocka_unit_test(refuses_a_length_that_is_none),
        cmocka_unit_test(gives_blocks_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
