/* block.cpp: a kernel's threads, one after another, on fibers.
 *
 * A fiber is a stack on which threads of the block run, one after another, until one of them has to wait; then another
 * fiber goes on with the threads that have not begun. So a kernel without barriers needs one fiber for all threads, and
 * one with them as many as the block has threads. When all threads have begun, and each is done or waits, those whose
 * barrier or warp operation is complete go on; if there are none, the block has diverged. */
#include "harness/cuda/emulated/fiber.h"
#include "harness/cuda/emulated/runtime.h"

#include "harness/cuda/emulated/emulated.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace
{

enum { WARP = 32 };
enum wait_kind { RUNS, IDLE, AT_BARRIER, AT_WARP };

struct fiber {
    emulated_fiber itself;
    unsigned thread;
    uint3 index;
    wait_kind state;
    /* what it waits for */
    const char *file;
    int line;
    emulated_warp_op op;
    unsigned mask, lane;
    int width;
    uint64_t value;
};

struct block_state {
    std::mutex one_at_a_time; /* static shared arrays allow one block in the process */
    std::vector<std::unique_ptr<fiber>> fibers;
    std::vector<fiber *> of_thread; /* NULL: done */
    unsigned char *dynamic;
    std::vector<const void *> filled; /* its static shared arrays, once a thread has come to where they are declared */
    emulated_fiber scheduler;         /* the host thread's own stack */
    fiber *current;
    unsigned threads, begun, done;
    bool reversed;
    const std::function<void()> *body;
} block;

void into_fiber(fiber *f)
{
    block.current = f;
    emulated_fiber_switch(&block.scheduler, &f->itself);
}

uint3 index_of(unsigned thread)
{
    return {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y};
}

/* The next thread in turn that may run, when all have begun; NULL: it is the scheduler's turn. */
fiber *next_of(const fiber *f)
{
    if (block.begun < block.threads) return nullptr;
    for (unsigned t = f->thread; block.reversed ? t-- > 0 : ++t < block.threads;)
        if (block.of_thread[t] != nullptr && block.of_thread[t]->state == RUNS) return block.of_thread[t];
    return nullptr;
}

/* It waits, or has nothing to do. */
void leave(fiber *f)
{
    fiber *next = next_of(f);
    block.current = next;
    emulated_fiber_switch(&f->itself, next != nullptr ? &next->itself : &block.scheduler);
    threadIdx = f->index;
}

void run_threads()
{
    emulated_fiber_begun();
    for (;;) {
        fiber *f = block.current;
        while (block.begun < block.threads) {
            f->thread = block.reversed ? block.threads - 1 - block.begun : block.begun;
            f->state = RUNS;
            block.begun++;
            block.of_thread[f->thread] = f;
            threadIdx = f->index = index_of(f->thread);
            (*block.body)();
            block.of_thread[f->thread] = nullptr;
            block.done++;
        }
        f->state = IDLE;
        leave(f);
    }
}

fiber *new_fiber()
{
    std::unique_ptr<fiber> f(new fiber());
    if (!emulated_fiber_make(&f->itself, run_threads)) {
        std::fprintf(stderr, "emulated CUDA: no memory for a thread's stack\n");
        std::abort();
    }
    block.fibers.push_back(std::move(f));
    return block.fibers.back().get();
}

[[noreturn]] void diverged(const char *why, const fiber *a, const fiber *b)
{
    std::fprintf(stderr, "emulated CUDA: block (%u,%u,%u) of %u threads diverges: %s\n", blockIdx.x, blockIdx.y,
                 blockIdx.z, block.threads, why);
    std::fprintf(stderr, "  thread %u waits at %s:%d\n", a->thread, a->file, a->line);
    if (b != nullptr) std::fprintf(stderr, "  thread %u waits at %s:%d\n", b->thread, b->file, b->line);
    std::abort();
}

bool same_place(const fiber *a, const fiber *b) { return a->line == b->line && a->file == b->file; }

/* All threads at one barrier? Then they may go on. */
bool release_barrier()
{
    const fiber *first = nullptr;
    for (const fiber *f : block.of_thread) {
        if (f == nullptr || f->state != AT_BARRIER) return false;
        if (first == nullptr) first = f;
        if (!same_place(first, f)) diverged("its threads are at two different barriers", first, f);
    }
    for (fiber *f : block.of_thread) f->state = RUNS;
    return first != nullptr;
}

/* The lanes of the warp that begins at thread `warp`; NULL where the block ends before it. */
fiber *lane_of(unsigned warp, unsigned lane)
{
    return warp + lane < block.threads ? block.of_thread[warp + lane] : nullptr;
}

/* What lane `own` gets, given what all lanes of its mask have brought. A lane that the block does not have, or that the
 * mask leaves out, gives all ones: NaN. */
uint64_t warp_result(unsigned warp, const fiber *f, unsigned own)
{
    const unsigned width = static_cast<unsigned>(f->width), base = own / width * width;
    unsigned from = own;
    uint64_t votes = 0;
    switch (f->op) {
    case EMULATED_SYNC:
        return 0;
    case EMULATED_BALLOT:
        for (unsigned i = 0; i < WARP; i++)
            if ((f->mask >> i & 1) && lane_of(warp, i) != nullptr) votes |= lane_of(warp, i)->value << i;
        return votes;
    case EMULATED_SHFL:
        from = base + f->lane % width;
        break;
    case EMULATED_UP:
        from = own - base >= f->lane ? own - f->lane : own;
        break;
    case EMULATED_DOWN:
        from = own - base + f->lane < width ? own + f->lane : own;
        break;
    case EMULATED_XOR:
        from = (own ^ f->lane) < base + width ? own ^ f->lane : own;
        break;
    }
    const fiber *source = from < WARP ? lane_of(warp, from) : nullptr;
    return source != nullptr && (f->mask >> from & 1) ? source->value : ~uint64_t(0);
}

/* Is every lane of the mask there, at the same line with the same mask? */
bool warp_complete(unsigned warp, const fiber *f)
{
    for (unsigned i = 0; i < WARP && warp + i < block.threads; i++) {
        if (!(f->mask >> i & 1)) continue;
        const fiber *other = lane_of(warp, i);
        if (other == nullptr) diverged("a lane of the mask has ended", f, nullptr);
        if (other->state != AT_WARP) return false;
        if (!same_place(f, other) || f->mask != other->mask || f->op != other->op) return false;
    }
    return true;
}

bool release_warp(unsigned warp)
{
    bool released = false;
    for (unsigned i = 0; i < WARP; i++) {
        const fiber *f = lane_of(warp, i);
        if (f == nullptr || f->state != AT_WARP || !warp_complete(warp, f)) continue;
        const unsigned mask = f->mask;
        uint64_t results[WARP] = {};
        for (unsigned j = 0; j < WARP; j++)
            if ((mask >> j & 1) && lane_of(warp, j) != nullptr) results[j] = warp_result(warp, lane_of(warp, j), j);
        for (unsigned j = 0; j < WARP; j++) {
            fiber *lane = lane_of(warp, j);
            if (!(mask >> j & 1) || lane == nullptr) continue;
            lane->value = results[j];
            lane->state = RUNS;
        }
        released = true;
    }
    return released;
}

void release_or_abort()
{
    if (release_barrier()) return;
    bool released = false;
    for (unsigned warp = 0; warp < block.threads; warp += WARP) released = release_warp(warp) || released;
    if (released) return;
    const fiber *first = nullptr, *other = nullptr;
    for (const fiber *f : block.of_thread) {
        if (f == nullptr) continue;
        if (first == nullptr) first = f;
        if (other == nullptr && !same_place(first, f)) other = f;
    }
    diverged(other == nullptr ? "threads have ended that others wait for" : "threads wait for one another", first,
             other);
}

void run_block()
{
    block.begun = block.done = 0;
    block.of_thread.assign(block.threads, nullptr);
    for (size_t i = 0; block.begun < block.threads; i++)
        into_fiber(i < block.fibers.size() ? block.fibers[i].get() : new_fiber());
    while (block.done < block.threads) {
        release_or_abort();
        for (unsigned i = 0; i < block.threads; i++) {
            fiber *f = block.of_thread[block.reversed ? block.threads - 1 - i : i];
            if (f != nullptr && f->state == RUNS) into_fiber(f);
        }
    }
}

} // namespace

void *emulated_dynamic_shared() { return block.dynamic; }

/* By the first of the block's threads that comes there. */
void emulated_fill_shared(void *memory, size_t size)
{
    if (std::find(block.filled.begin(), block.filled.end(), memory) != block.filled.end()) return;
    std::memset(memory, 0xFF, size);
    block.filled.push_back(memory);
}

void emulated_barrier(const char *file, int line)
{
    fiber *f = block.current;
    f->state = AT_BARRIER;
    f->file = file;
    f->line = line;
    leave(f);
}

uint64_t emulated_warp(emulated_warp_op op, unsigned mask, uint64_t value, unsigned lane, int width, const char *file,
                       int line)
{
    fiber *f = block.current;
    f->state = AT_WARP;
    f->file = file;
    f->line = line;
    f->op = op;
    f->mask = mask;
    f->value = value;
    f->lane = lane;
    f->width = width;
    if (!(mask >> (f->thread % WARP) & 1)) diverged("a lane is not in its own mask", f, nullptr);
    leave(f);
    return f->value;
}

/* Fresh memory for every block, and exactly as long as the launch says: the address sanitizer guards its end. */
void emulated_run_grid(dim3 grid, dim3 shape, size_t shared_bytes, const std::function<void()> &body)
{
    const std::lock_guard<std::mutex> lock(block.one_at_a_time);
    std::unique_ptr<unsigned char[]> shared(new unsigned char[shared_bytes]);
    block.dynamic = shared.get();
    block.body = &body;
    block.threads = shape.x * shape.y * shape.z;
    blockDim = shape;
    gridDim = grid;
    block.reversed = false;
    for (blockIdx.z = 0; blockIdx.z < grid.z; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++) {
                std::memset(block.dynamic, 0xFF, shared_bytes);
                block.filled.clear();
                run_block();
                block.reversed = !block.reversed;
            }
    block.dynamic = nullptr;
}
