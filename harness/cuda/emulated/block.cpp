/* block.cpp: a kernel's threads, one after another, on fibers.
 *
 * A fiber is a stack on which threads of the block run, one after another, until one of them has to wait; then another
 * fiber goes on with the threads that have not begun. So a kernel without barriers needs one fiber for all threads, and
 * one with them as many as the block has threads. When all threads have begun, and each is done or waits, those whose
 * barrier or warp operation is complete go on; if there are none, the block has diverged.
 *
 * Blocks run one after another, each to its end; those of a cooperative grid each to the next barrier of the grid, and
 * in between, or in any other grid, those of a cluster each to the next barrier of the cluster. */
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
enum wait_kind { RUNS, IDLE, AT_BARRIER, AT_WARP, AT_CLUSTER, AT_GRID, AT_NAMED, AT_POLL };
enum { NAMED = 16, POLLS_MOST = 100000 }; /* bar.sync's barriers; rounds in which threads do nothing but look */

struct fiber {
    emulated_fiber itself;
    unsigned thread;
    uint3 index;
    wait_kind state;
    /* what it waits for */
    const char *file;
    int line;
    int named, party; /* which barrier, and how many threads meet there */
    emulated_warp_op op;
    unsigned mask, lane;
    int width;
    uint64_t value;
};

std::mutex one_at_a_time; /* static shared arrays allow one block in the process */
emulated_fiber scheduler; /* the host thread's own stack */
bool cooperative;         /* the grid that runs */
unsigned cluster;         /* ... and how many of its blocks, one after another, are a cluster */

struct block_state {
    std::vector<std::unique_ptr<fiber>> fibers;
    std::vector<fiber *> of_thread; /* NULL: done */
    std::unique_ptr<unsigned char[]> dynamic;
    std::vector<const void *> filled; /* its static shared arrays, once a thread has come to where they are declared */
    fiber *current;
    unsigned threads, begun, done, polls;
    bool reversed;
    size_t first; /* the first block of its cluster */
    uint3 index;
    const emulated_body *body;
};

std::vector<std::unique_ptr<block_state>>
    blocks; /* more than one of a cooperative grid, or a cluster; their stacks are kept */
block_state *running;

void into_fiber(fiber *f)
{
    running->current = f;
    emulated_fiber_switch(&scheduler, &f->itself);
}

uint3 index_of(unsigned thread)
{
    if (running->threads == blockDim.x) return {thread, 0, 0};
    return {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y};
}

/* The next thread in turn that may run, when all have begun; NULL: it is the scheduler's turn. */
fiber *next_of(const fiber *f)
{
    if (running->begun < running->threads) return nullptr;
    for (unsigned t = f->thread; running->reversed ? t-- > 0 : ++t < running->threads;)
        if (running->of_thread[t] != nullptr && running->of_thread[t]->state == RUNS) return running->of_thread[t];
    return nullptr;
}

/* It waits, or has nothing to do. */
void leave(fiber *f)
{
    fiber *next = next_of(f);
    running->current = next;
    emulated_fiber_switch(&f->itself, next != nullptr ? &next->itself : &scheduler);
    threadIdx = f->index;
}

void run_threads()
{
    emulated_fiber_begun();
    for (;;) {
        fiber *f = running->current;
        while (running->begun < running->threads) {
            f->thread = running->reversed ? running->threads - 1 - running->begun : running->begun;
            f->state = RUNS;
            running->begun++;
            running->of_thread[f->thread] = f;
            threadIdx = f->index = index_of(f->thread);
            running->body->run(running->body->call);
            running->of_thread[f->thread] = nullptr;
            running->done++;
        }
        f->state = IDLE;
        leave(f);
    }
}

fiber *new_fiber()
{
    std::unique_ptr<fiber> f(new fiber());
    if (!emulated_fiber_make(&f->itself, static_cast<unsigned>(running->fibers.size()), run_threads)) {
        std::fprintf(stderr, "emulated CUDA: no memory for a thread's stack\n");
        std::abort();
    }
    running->fibers.push_back(std::move(f));
    return running->fibers.back().get();
}

[[noreturn]] void diverged(const char *why, const fiber *a, const fiber *b)
{
    std::fprintf(stderr, "emulated CUDA: block (%u,%u,%u) of %u threads diverges: %s\n", blockIdx.x, blockIdx.y,
                 blockIdx.z, running->threads, why);
    std::fprintf(stderr, "  thread %u waits at %s:%d\n", a->thread, a->file, a->line);
    if (b != nullptr) std::fprintf(stderr, "  thread %u waits at %s:%d\n", b->thread, b->file, b->line);
    std::abort();
}

bool same_place(const fiber *a, const fiber *b) { return a->line == b->line && a->file == b->file; }

/* All threads at one barrier? Then they may go on. */
bool release_barrier()
{
    const fiber *first = nullptr;
    for (const fiber *f : running->of_thread) {
        if (f == nullptr || f->state != AT_BARRIER) return false;
        if (first == nullptr) first = f;
        if (!same_place(first, f)) diverged("its threads are at two different barriers", first, f);
    }
    for (fiber *f : running->of_thread) f->state = RUNS;
    return first != nullptr;
}

/* A warp of the running block, whose last one may be shorter. */
struct warp_lanes {
    fiber *const *lane; /* NULL: it has ended */
    unsigned count;
};

warp_lanes warp_at(unsigned thread)
{
    return {&running->of_thread[thread], std::min<unsigned>(WARP, running->threads - thread)};
}

/* The lane whose value lane `own` asks for. */
unsigned lane_asked(const fiber *f, unsigned own)
{
    const unsigned width = static_cast<unsigned>(f->width), base = own & ~(width - 1); /* a power of two */
    switch (f->op) {
    case EMULATED_SHFL:
        return base + (f->lane & (width - 1));
    case EMULATED_UP:
        return own - base >= f->lane ? own - f->lane : own;
    case EMULATED_DOWN:
        return own - base + f->lane < width ? own + f->lane : own;
    case EMULATED_XOR:
        return (own ^ f->lane) < base + width ? own ^ f->lane : own;
    default: /* it asks for none */
        return own;
    }
}

/* The lanes of the mask have come: each gets what it asks for, and goes on. A lane that the block does not have, or
 * that the mask leaves out, gives all ones: NaN. */
void exchange(warp_lanes warp, unsigned mask, emulated_warp_op op)
{
    uint64_t values[WARP], votes = 0;
    std::fill(values, values + WARP, ~uint64_t(0));
    for (unsigned i = 0; i < warp.count; i++) {
        if (!(mask >> i & 1)) continue;
        values[i] = warp.lane[i]->value;
        votes |= values[i] << i;
    }
    for (unsigned i = 0; i < warp.count; i++) {
        if (!(mask >> i & 1)) continue;
        fiber *f = warp.lane[i];
        const unsigned from = lane_asked(f, i);
        f->value = op == EMULATED_BALLOT ? votes : from < WARP ? values[from] : ~uint64_t(0);
        f->state = RUNS;
    }
}

/* Is every lane of the mask there, at the same line with the same mask? */
bool warp_complete(warp_lanes warp, const fiber *f)
{
    for (unsigned i = 0; i < warp.count; i++) {
        if (!(f->mask >> i & 1)) continue;
        const fiber *other = warp.lane[i];
        if (other == nullptr) diverged("a lane of the mask has ended", f, nullptr);
        if (other->state != AT_WARP) return false;
        if (!same_place(f, other) || f->mask != other->mask || f->op != other->op) return false;
    }
    return true;
}

bool release_warp(warp_lanes warp)
{
    bool released = false;
    for (unsigned i = 0; i < warp.count; i++) {
        const fiber *f = warp.lane[i];
        if (f == nullptr || f->state != AT_WARP || !warp_complete(warp, f)) continue;
        exchange(warp, f->mask, f->op);
        released = true;
    }
    return released;
}

/* A part of the block has met at a barrier of its own? */
bool release_named()
{
    bool released = false;
    for (int id = 0; id < NAMED; id++) {
        int waiting = 0, party = 0;
        for (const fiber *f : running->of_thread)
            if (f != nullptr && f->state == AT_NAMED && f->named == id) waiting++, party = f->party;
        if (waiting == 0 || waiting < party) continue;
        for (fiber *f : running->of_thread)
            if (f != nullptr && f->state == AT_NAMED && f->named == id) f->state = RUNS;
        released = true;
    }
    return released;
}

/* Threads that wait for what another one writes look again, until it is clear that no other one will write. */
bool release_polls(bool progress)
{
    bool released = false;
    running->polls = progress ? 0 : running->polls + 1;
    for (fiber *f : running->of_thread)
        if (f != nullptr && f->state == AT_POLL && running->polls < POLLS_MOST) f->state = RUNS, released = true;
    return released;
}

/* All threads of the running block wait for other blocks, of the cluster or the grid? None may have ended: a device
 * would hang. */
bool all_wait(wait_kind kind)
{
    const fiber *first = running->of_thread[0];
    for (const fiber *f : running->of_thread) {
        if (f == nullptr || f->state != kind) return false;
        if (!same_place(first, f)) diverged("its threads are at two different barriers", first, f);
    }
    return true;
}

/* What they wait for: a bit a kind. */
unsigned kinds_of_waits()
{
    unsigned kinds = 0;
    for (const fiber *f : running->of_thread)
        if (f != nullptr) kinds |= 1u << f->state;
    return kinds;
}

void release_or_abort()
{
    const unsigned kinds = kinds_of_waits();
    bool released = false;
    if ((kinds & 1u << AT_BARRIER) != 0 && release_barrier()) return;
    if ((kinds & 1u << AT_WARP) != 0)
        for (unsigned warp = 0; warp < running->threads; warp += WARP)
            released = release_warp(warp_at(warp)) || released;
    if ((kinds & 1u << AT_NAMED) != 0) released = release_named() || released;
    if ((kinds & 1u << AT_POLL) != 0) released = release_polls(released) || released;
    if (released) return;
    const fiber *first = nullptr, *other = nullptr;
    for (const fiber *f : running->of_thread) {
        if (f == nullptr) continue;
        if (first == nullptr) first = f;
        if (other == nullptr && !same_place(first, f)) other = f;
    }
    diverged(other == nullptr ? "threads have ended that others wait for" : "threads wait for one another", first,
             other);
}

/* To the end of all its threads, or until all of them wait for other blocks. */
void run_block()
{
    for (size_t i = 0; running->begun < running->threads; i++)
        into_fiber(i < running->fibers.size() ? running->fibers[i].get() : new_fiber());
    for (;;) {
        for (unsigned i = 0; i < running->threads; i++) {
            fiber *f = running->of_thread[running->reversed ? running->threads - 1 - i : i];
            if (f != nullptr && f->state == RUNS) into_fiber(f);
        }
        if (running->done == running->threads || all_wait(AT_GRID) || all_wait(AT_CLUSTER)) return;
        release_or_abort();
    }
}

/* Fresh memory for every block, and exactly as long as the launch says: the address sanitizer guards its end. */
void begin_block(block_state *b, const emulated_grid &grid, uint3 index, bool reversed)
{
    b->dynamic.reset(new unsigned char[grid.shared_bytes]);
    std::memset(b->dynamic.get(), 0xFF, grid.shared_bytes);
    b->filled.clear();
    b->body = &grid.body;
    b->threads = grid.block.x * grid.block.y * grid.block.z;
    b->index = index;
    b->reversed = reversed;
    b->begun = b->done = b->polls = 0;
    b->of_thread.assign(b->threads, nullptr);
}

void go_on(block_state *b)
{
    running = b;
    blockIdx = b->index;
    run_block();
}

block_state *block_at(size_t i)
{
    while (blocks.size() <= i) blocks.emplace_back(new block_state());
    return blocks[i].get();
}

void release_all(block_state *b)
{
    for (fiber *f : b->of_thread)
        if (f != nullptr) f->state = RUNS;
}

/* Does the block wait for its cluster? If so, where `first`, of another one, does? */
bool waits_for_cluster(block_state *b, const fiber **first)
{
    running = b;
    if (!all_wait(AT_CLUSTER)) return false;
    if (*first == nullptr) *first = b->of_thread[0];
    if (!same_place(*first, b->of_thread[0]))
        diverged("its cluster's blocks are at two different barriers", *first, b->of_thread[0]);
    return true;
}

/* The cluster that begins with this block, until none of its blocks waits for the others; the last block first, every
 * second time. */
void run_cluster(size_t begin, bool reversed)
{
    for (;; reversed = !reversed) {
        const fiber *first = nullptr;
        unsigned waiting = 0;
        for (unsigned i = 0; i < cluster; i++) go_on(block_at(begin + (reversed ? cluster - 1 - i : i)));
        for (unsigned i = 0; i < cluster; i++) waiting += waits_for_cluster(block_at(begin + i), &first);
        if (waiting == 0) return;
        if (waiting < cluster) diverged("a block waits for others of its cluster that do not come", first, nullptr);
        for (unsigned i = 0; i < cluster; i++) release_all(block_at(begin + i));
    }
}

/* From one barrier of the grid to the next; the last block first, every second time. */
void run_cooperative(size_t count)
{
    for (bool reversed = false;; reversed = !reversed) {
        size_t done = 0;
        for (size_t i = 0; i < count; i += cluster) run_cluster(reversed ? count - cluster - i : i, reversed);
        for (size_t i = 0; i < count; i++) done += block_at(i)->done == block_at(i)->threads;
        if (done == count) return;
        for (size_t i = 0; i < count; i++) {
            running = block_at(i);
            if (done > 0 && running->done < running->threads)
                diverged("a block has ended that others wait for", running->of_thread[0], nullptr);
            release_all(running);
        }
    }
}

} // namespace

void *emulated_dynamic_shared() { return running->dynamic.get(); }

/* By the first of the block's threads that comes there. */
void emulated_fill_shared(void *memory, size_t size)
{
    if (cooperative || cluster > 1) {
        std::fprintf(stderr, "emulated CUDA: the blocks of a %s share static __shared__ arrays\n",
                     cooperative ? "cooperative grid" : "cluster");
        std::abort();
    }
    if (std::find(running->filled.begin(), running->filled.end(), memory) != running->filled.end()) return;
    std::memset(memory, 0xFF, size);
    running->filled.push_back(memory);
}

static void wait_at(wait_kind kind, const char *file, int line)
{
    fiber *f = running->current;
    f->state = kind;
    f->file = file;
    f->line = line;
    leave(f);
}

void emulated_barrier(const char *file, int line) { wait_at(AT_BARRIER, file, line); }

void emulated_poll(const char *file, int line) { wait_at(AT_POLL, file, line); }

void emulated_named_barrier(int id, int threads, const char *file, int line)
{
    running->current->named = id;
    running->current->party = threads;
    wait_at(AT_NAMED, file, line);
}

void emulated_grid_barrier(const char *file, int line)
{
    if (!cooperative) diverged("a barrier of the grid in a launch that is not cooperative", running->current, nullptr);
    wait_at(AT_GRID, file, line);
}

void emulated_cluster_barrier(const char *file, int line)
{
    if (cluster > 1) wait_at(AT_CLUSTER, file, line);
}

void *emulated_peer_shared(void *mine, unsigned rank)
{
    const size_t at = static_cast<size_t>(static_cast<unsigned char *>(mine) - running->dynamic.get());
    if (rank >= cluster) diverged("the cluster has no block of this rank", running->current, nullptr);
    return block_at(running->first + rank)->dynamic.get() + at;
}

void emulated_hangs(unsigned expected, unsigned come, const char *file, int line)
{
    std::fprintf(stderr, "emulated CUDA: thread %u of block %u waits at %s:%d for %u, and %u have come\n",
                 running->current->thread, blockIdx.x, file, line, expected, come);
    std::abort();
}

uint64_t emulated_warp(emulated_warp_op op, unsigned mask, uint64_t value, unsigned lane, int width, const char *file,
                       int line)
{
    fiber *f = running->current;
    f->op = op;
    f->mask = mask;
    f->value = value;
    f->lane = lane;
    f->width = width;
    f->file = file;
    f->line = line;
    if (!(mask >> (f->thread % WARP) & 1)) diverged("a lane is not in its own mask", f, nullptr);
    wait_at(AT_WARP, file, line);
    return f->value;
}

void emulated_run_grid(const emulated_grid &grid)
{
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    bool reversed = false;
    size_t count = 0;
    uint3 i = {0, 0, 0};
    blockDim = grid.block;
    gridDim = grid.grid;
    cooperative = grid.cooperative;
    cluster = grid.cluster;
    for (i.z = 0; i.z < grid.grid.z; i.z++)
        for (i.y = 0; i.y < grid.grid.y; i.y++)
            for (i.x = 0; i.x < grid.grid.x; i.x++, reversed = !reversed) {
                const size_t slot = cooperative ? count : count % cluster;
                block_state *b = block_at(slot);
                begin_block(b, grid, i, reversed);
                b->first = slot / cluster * cluster;
                count++;
                if (cooperative) continue;
                if (cluster == 1) go_on(b);
                if (cluster > 1 && slot + 1 == cluster) run_cluster(0, reversed);
            }
    if (cooperative) run_cooperative(count);
}
