/* fiber.h: stacks that take turns. A switch keeps what a function call must keep, changes the stack pointer, and goes
 * on where the other one stopped: on x86-64 a dozen instructions; elsewhere by ucontext, which asks the kernel (for the
 * signal mask) each time and takes some thirty times as long. The address sanitizer is told of every switch. */
#ifndef HARNESS_CUDA_EMULATED_FIBER_H
#define HARNESS_CUDA_EMULATED_FIBER_H

struct emulated_fiber;

/* A stack on which `body`, which never returns, begins at the first switch to it; false: no memory. It is never freed.
 * Stacks of neighbouring numbers, from 0, lie apart in the caches. */
bool emulated_fiber_make(emulated_fiber *, unsigned number, void (*body)());
/* To be the first thing that a body does. */
void emulated_fiber_begun();
/* Returns when someone switches back to `from`. A zeroed fiber stands for the stack that is running. */
void emulated_fiber_switch(emulated_fiber *from, emulated_fiber *to);

#if defined(__x86_64__) && !defined(EMULATED_UCONTEXT)
struct emulated_place {
    void *stack_pointer;
};
#else
#include <ucontext.h>
typedef ucontext_t emulated_place;
#endif

struct emulated_fiber {
    emulated_place place; /* where it stopped */
    const void *stack;
    unsigned long stack_bytes;
    void *fake_stack; /* the address sanitizer's */
};

#endif
