/* test_ranks_known.c: what all ranks get to know of what one has found: three ranks, of which this process is one, and
 * what the others send is made up. */
#include "harness/ranks/ranks.h"
#include "tests/unit.h"

#include <stdlib.h>

enum { RANKS = 3 };

/* Behind the interface: what a gather gets, but for this rank's own part. */
typedef struct made_up {
    ranks r;
    char *others;
    int gathers;
} made_up;

static cnn_status gather(ranks *r, const void *mine, size_t bytes, void *all, cnn_error *err)
{
    made_up *m = (made_up *)r;
    (void)err;
    m->gathers++;
    memcpy(all, m->others, RANKS * bytes);
    memcpy((char *)all + (size_t)r->rank * bytes, mine, bytes);
    return CNN_OK;
}

static const ranks_calls calls = {.gather = gather};

/* As ranks_agree() sends it. */
typedef struct outcome {
    cnn_status status;
    char message[CNN_MESSAGE_MAX];
} outcome;

static void one_that_fails_is_known_to_all(void **state)
{
    outcome sent[RANKS] = {{.status = CNN_OK}};
    made_up m = {.r = {.calls = &calls, .rank = 1, .size = RANKS}, .others = (char *)sent};
    cnn_error err;
    (void)state;
    assert_int_equal(ranks_agree(&m.r, CNN_OK, &err), CNN_OK);
    assert_false(m.r.agreed);

    sent[2] = (outcome){CNN_OUT_OF_MEMORY, "no memory for a batch"};
    assert_int_equal(ranks_agree(&m.r, CNN_OK, &err), CNN_OUT_OF_MEMORY);
    assert_int_equal(err.status, CNN_OUT_OF_MEMORY);
    assert_string_equal(err.message, "rank 2 of 3: no memory for a batch");
    assert_true(m.r.agreed);

    sent[0] = (outcome){CNN_BAD_ARGUMENT, "no such network"}; /* the lowest is the one that speaks */
    CNN_FAIL(&err, CNN_IO, "mine");
    assert_int_equal(ranks_agree(&m.r, CNN_IO, &err), CNN_BAD_ARGUMENT);
    assert_string_equal(err.message, "no such network");

    sent[0] = sent[2] = (outcome){.status = CNN_OK};
    CNN_FAIL(&err, CNN_IO, "mine");
    assert_int_equal(ranks_agree(&m.r, CNN_IO, &err), CNN_IO);
    assert_string_equal(err.message, "rank 1 of 3: mine");
    assert_int_equal(ranks_agree(&m.r, CNN_OK, &err), CNN_OK); /* the next time it begins anew */
    assert_false(m.r.agreed);
}

static void who_differs_is_found(void **state)
{
    char sent[RANKS][4] = {"abc", "abc", "abc"};
    made_up m = {.r = {.calls = &calls, .rank = 0, .size = RANKS}, .others = (char *)sent};
    cnn_error err;
    int other = 7;
    (void)state;
    assert_int_equal(ranks_compare(&m.r, "abc", 4, &other, &err), CNN_OK);
    assert_int_equal(other, -1);
    strcpy(sent[2], "abd");
    assert_int_equal(ranks_compare(&m.r, "abc", 4, &other, &err), CNN_OK);
    assert_int_equal(other, 2);
    assert_int_equal(ranks_compare(&m.r, "xyz", 4, &other, &err), CNN_OK);
    assert_int_equal(other, 1);
}

static void a_process_alone_sends_nothing(void **state)
{
    double value = 3.0, copy = 0.0;
    cnn_error err;
    int other = 7, threads = 0;
    (void)state;
    assert_int_equal(rank_number(NULL), 0);
    assert_int_equal(rank_size(NULL), 1);
    assert_int_equal(ranks_sum(NULL, &value, 1, CNN_F64, &err), CNN_OK);
    assert_int_equal(ranks_broadcast(NULL, &value, sizeof value, &err), CNN_OK);
    assert_int_equal(ranks_barrier(NULL, &err), CNN_OK);
    assert_int_equal(ranks_gather(NULL, &value, sizeof value, &copy, &err), CNN_OK);
    assert_true(value == 3.0 && copy == 3.0);
    assert_int_equal(ranks_compare(NULL, &value, sizeof value, &other, &err), CNN_OK);
    assert_int_equal(other, -1);
    CNN_FAIL(&err, CNN_IO, "mine");
    assert_int_equal(ranks_agree(NULL, CNN_IO, &err), CNN_IO);
    assert_string_equal(err.message, "mine");
    assert_int_equal(ranks_place(NULL, 5, &threads, &err), CNN_OK);
    assert_int_equal(threads, 5);
    ranks_close(NULL);
}

/* More threads than cores for each: nobody is bound, and the number stays as it was asked for. */
static void too_few_cores_bind_nobody(void **state)
{
    made_up m = {.r = {.calls = &calls, .rank = 1, .size = RANKS, .node = 0, .local_rank = 1, .local_size = RANKS}};
    cnn_error err;
    int threads = 0;
    char nobody[RANKS * 256];
    (void)state;
    memset(nobody, 0xff, sizeof nobody); /* others, on other hosts */
    m.others = nobody;
    assert_int_equal(ranks_place(&m.r, 4096, &threads, &err), CNN_OK);
    assert_int_equal(threads, 4096);
    assert_int_equal(m.gathers, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_fails_is_known_to_all),
        cmocka_unit_test(who_differs_is_found),
        cmocka_unit_test(a_process_alone_sends_nothing),
        cmocka_unit_test(too_few_cores_bind_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
