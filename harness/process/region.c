/* region.c: see region.h. */
#include "region.h"

#include "harness/base/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Far from where programs, their libraries and their stacks lie, and from what sanitizers keep for themselves: the
 * other process, whose own addresses are drawn anew, is to find it free as well. */
static void *const somewhere = (void *)(uintptr_t)0x200000000000;

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static cnn_status map(region *r, size_t bytes, int fd, cnn_error *err)
{
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to share with another process: %s", strerror(errno));
    r->start = mmap(somewhere, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (r->start != MAP_FAILED) return CNN_OK;
    r->start = NULL;
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no %zu bytes of addresses to share with another process: %s", bytes,
                    strerror(errno));
}

cnn_status region_make(region *r, size_t bytes, int *fd, cnn_error *err)
{
    const size_t whole = bytes / page_size() * page_size();
    *r = (region){.bytes = whole};
    *fd = memfd_create("operands", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const cnn_status status = map(r, whole, *fd, err);
    if (status == CNN_OK) pthread_mutex_init(&r->lock, NULL);
    if (status == CNN_OK) return CNN_OK;
    if (*fd >= 0) close(*fd);
    *fd = -1;
    return status;
}

void region_free(region *r)
{
    if (r->start == NULL) return;
    munmap(r->start, r->bytes);
    pthread_mutex_destroy(&r->lock);
    free(r->blocks);
    *r = (region){.start = NULL};
}

cnn_status region_join(void *start, size_t bytes, int fd, cnn_error *err)
{
    if (mmap(start, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd, 0) == start) return CNN_OK;
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "the addresses of the memory that is shared are not free: %s",
                    strerror(errno));
}

bool region_open(void *first, size_t bytes, bool open)
{
    return mprotect(first, bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

/* The first gap that is large enough; the index at which the block is to stand. */
static int find_gap(const region *r, size_t needed, size_t *at)
{
    *at = page_size();
    for (int i = 0; i < r->count; i++) {
        if (r->blocks[i].at - *at >= needed) return i;
        *at = r->blocks[i].at + r->blocks[i].bytes + page_size();
    }
    return *at < r->bytes && r->bytes - *at >= needed ? r->count : -1;
}

void *region_take(region *r, size_t bytes)
{
    cnn_error none;
    size_t at;
    void *block = NULL;
    if (bytes > r->bytes) return NULL;
    const size_t whole = (bytes + page_size() - 1) / page_size() * page_size();
    pthread_mutex_lock(&r->lock);
    const int i = find_gap(r, whole + page_size(), &at);
    if (i >= 0 && cnn_add_item(&r->blocks, &r->count, &r->capacity, sizeof *r->blocks, "blocks", &none) != NULL) {
        memmove(r->blocks + i + 1, r->blocks + i, (size_t)(r->count - 1 - i) * sizeof *r->blocks);
        r->blocks[i] = (region_block){at, whole};
        block = r->start + at;
    }
    pthread_mutex_unlock(&r->lock);
    return block;
}

/* With the lock held: its index, or -1. */
static int find_block(const region *r, const void *block)
{
    for (int i = 0; block != NULL && i < r->count; i++)
        if (r->start + r->blocks[i].at == block) return i;
    return -1;
}

void *region_block_of(region *r, const void *address, size_t *bytes)
{
    char *page = r->start + (size_t)((const char *)address - r->start) / page_size() * page_size();
    pthread_mutex_lock(&r->lock);
    const int i = find_block(r, page);
    *bytes = i >= 0 ? r->blocks[i].bytes : 0;
    pthread_mutex_unlock(&r->lock);
    return i >= 0 ? page : NULL;
}

void region_give(region *r, void *block)
{
    pthread_mutex_lock(&r->lock);
    const int i = find_block(r, block);
    if (i >= 0) {
        (void)madvise(block, r->blocks[i].bytes, MADV_REMOVE); /* the system has it back; who comes next finds zeros */
        memmove(r->blocks + i, r->blocks + i + 1, (size_t)(r->count - 1 - i) * sizeof *r->blocks);
        r->count--;
    }
    pthread_mutex_unlock(&r->lock);
}
