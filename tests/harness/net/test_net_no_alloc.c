/* test_net_no_alloc.c: after its first step a training run allocates nothing: malloc and its kin are counted, in every
 * thread. Sanitizers bring an allocator of their own, so there the test is skipped. */
#include "net_unit.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifndef SANITIZED

static atomic_bool counting;
static atomic_long allocations;

/* OpenBLAS's kernels for small products allocate in every call on some processors; what it does inside is not ours. */
static bool by_openblas(const void *caller)
{
    Dl_info info;
    return dladdr(caller, &info) != 0 && info.dli_fname != NULL && strstr(info.dli_fname, "openblas") != NULL;
}

static void count_for(const void *caller)
{
    if (atomic_load(&counting) && !by_openblas(caller)) atomic_fetch_add(&allocations, 1);
}
#define count() count_for(__builtin_return_address(0))

/* glibc's own, under the names that are meant for this. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);

void *malloc(size_t bytes) { return count(), __libc_malloc(bytes); }
void *calloc(size_t n, size_t bytes) { return count(), __libc_calloc(n, bytes); }
void *realloc(void *memory, size_t bytes) { return count(), __libc_realloc(memory, bytes); }
void *aligned_alloc(size_t align, size_t bytes) { return count(), __libc_memalign(align, bytes); }
int posix_memalign(void **memory, size_t align, size_t bytes)
{
    count();
    *memory = __libc_memalign(align, bytes);
    return *memory == NULL ? 12 : 0; /* ENOMEM */
}

static bool after_first_step(void *user, int64_t done, int64_t total)
{
    atomic_store(&counting, true);
    return true;
}

/* Takes one kind of layer alone, which no network here has in all of its convolutions, or another type. */
static bool is_special(const char *algorithm)
{
    return strcmp(algorithm, "depthwise") == 0 || strcmp(algorithm, "matrix") == 0 ||
           strcmp(algorithm, "shallow") == 0 || strcmp(algorithm, "bf16") == 0;
}

/* A transform does not take every kernel, nor does a special algorithm: true if it takes this network's. */
static bool check(const cnn_session *session, const char *net, const cnn_algorithm *row, const dataset *data,
                  bool host_data)
{
    const char *algorithm = row->name;
    const cnn_type type = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32};
    const trainer_watch watch = {.each = after_first_step};
    trainer_params params = {.seed = 1, .algorithm = algorithm, .host_data = host_data};
    trainer_result result;
    cnn_network *n = NULL;
    trainer *t = NULL;
    OK(cnn_net_load(net, &type, 16, 1, &n, err));
    OK(cnn_optimizer_parse("adam", &params.optimizer, err));
    cnn_error why;
    const cnn_status opened = trainer_open(session, n, data, &params, &t, &why);
    if (opened == CNN_UNSUPPORTED && (row->flags & CNN_ALGO_TRANSFORMS || is_special(algorithm))) {
        cnn_net_free(n);
        return false;
    }
    if (opened != CNN_OK) fail_msg("%s", why.message);
    OK(trainer_start(t, err));
    atomic_store(&allocations, 0);
    OK(trainer_epoch(t, 0, &watch, &result, err));
    OK(trainer_epoch(t, 1, &watch, &result, err));
    atomic_store(&counting, false);
    if (atomic_load(&allocations) != 0)
        fail_msg("%s with %s: %ld allocations after the first step", net, algorithm, atomic_load(&allocations));
    trainer_close(t);
    cnn_net_free(n);
    return true;
}

static void test_no_allocation(void **state)
{
    cnn_session session;
    if (!open_session(&session, 2)) skip();
    dataset data = small_data(100, 40, 1, 28, 28), odd = small_data(40, 20, 2, 9, 8),
            tiny = small_data(40, 20, 3, 32, 32);
    for (int i = 0; i < session.impl->n_algorithms; i++) {
        if (!(session.impl->algorithms[i].ops & 1u << CNN_OP_CONV)) continue;
        const cnn_algorithm *row = &session.impl->algorithms[i];
        const bool thesis = check(&session, "thesis", row, &data, i % 2);
        const bool every = check(&session, "every_layer", row, &odd, i % 2 == 0);
        if (is_special(row->name)) continue;
        if (!thesis || !every) assert_true(check(&session, "awnn_resnet", row, &tiny, i % 2)); /* 3x3 kernels alone */
    }
    dataset_free(&data);
    dataset_free(&tiny);
    dataset_free(&odd);
    cnn_session_close(&session);
}

/* The counter counts: else the test above could not fail. */
static void test_counter(void **state)
{
    void *(*volatile get)(size_t) = malloc;
    atomic_store(&allocations, 0);
    atomic_store(&counting, true);
    void *memory = get(1);
    atomic_store(&counting, false);
    free(memory);
    assert_int_equal(atomic_load(&allocations), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counter), cmocka_unit_test(test_no_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    puts("skipped: the sanitizer has its own allocator");
    return 0;
}

#endif
