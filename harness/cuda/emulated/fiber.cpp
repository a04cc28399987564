/* fiber.cpp: see fiber.h. */
#include "harness/cuda/emulated/fiber.h"

#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

enum { STACK_BYTES = 256 * 1024, GUARD_BYTES = 4096 };

/* Where a stack begins, below its end: stacks that all began at the same place of a page would share a few sets of the
 * caches, and each switch would wait for memory. Five lines are what a small kernel's thread uses of its stack. */
enum { LINE_BYTES = 64, PLACE_BYTES = 5 * LINE_BYTES, PLACES = 64 };

#if defined(__x86_64__) && !defined(EMULATED_UCONTEXT)

/* The six registers that a callee must keep, and the return address, wait on the stack that is left. */
__asm__(".pushsection .text\n"
        ".type emulated_switch_stacks, @function\n"
        "emulated_switch_stacks:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size emulated_switch_stacks, . - emulated_switch_stacks\n"
        ".popsection\n");
extern "C" void emulated_switch_stacks(void **save_pointer, void *new_pointer);

/* As if the body had called emulated_switch_stacks() from its very first instruction. */
static bool set_beginning(emulated_fiber *fiber, void *stack, void (*body)())
{
    void **top = reinterpret_cast<void **>(static_cast<char *>(stack) + fiber->stack_bytes);
    *--top = nullptr; /* the body's return address: it has none; and its stack is aligned as after a call */
    *--top = reinterpret_cast<void *>(body);
    for (int i = 0; i < 6; i++) *--top = nullptr;
    fiber->place.stack_pointer = top;
    return true;
}

static void switch_place(emulated_place *from, emulated_place *to)
{
    emulated_switch_stacks(&from->stack_pointer, to->stack_pointer);
}

#else

static bool set_beginning(emulated_fiber *fiber, void *stack, void (*body)())
{
    if (getcontext(&fiber->place) != 0) return false;
    fiber->place.uc_stack.ss_sp = stack;
    fiber->place.uc_stack.ss_size = fiber->stack_bytes;
    fiber->place.uc_link = nullptr;
    makecontext(&fiber->place, body, 0);
    return true;
}

static void switch_place(emulated_place *from, emulated_place *to) { swapcontext(from, to); }

#endif

bool emulated_fiber_make(emulated_fiber *fiber, unsigned number, void (*body)())
{
    void *stack =
        mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) return false;
    (void)mprotect(stack, GUARD_BYTES, PROT_NONE); /* a stack that overflows faults */
    fiber->stack = stack;
    fiber->stack_bytes = STACK_BYTES - number % PLACES * PLACE_BYTES;
    return set_beginning(fiber, stack, body);
}

#ifdef __SANITIZE_ADDRESS__
static emulated_fiber *left; /* the one that switched last: another host thread's stack may be behind it by now */

void emulated_fiber_begun() { __sanitizer_finish_switch_fiber(nullptr, &left->stack, &left->stack_bytes); }

void emulated_fiber_switch(emulated_fiber *from, emulated_fiber *to)
{
    left = from;
    __sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->stack_bytes);
    switch_place(&from->place, &to->place);
    __sanitizer_finish_switch_fiber(from->fake_stack, &left->stack, &left->stack_bytes);
}
#else
void emulated_fiber_begun() {}
void emulated_fiber_switch(emulated_fiber *from, emulated_fiber *to) { switch_place(&from->place, &to->place); }
#endif
