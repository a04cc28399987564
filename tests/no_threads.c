/* no_threads.c: preloaded into tests that start no thread (BENCHCNN_SEQUENTIAL), which are not tried under the thread
 * sanitizer: the first thread that one starts, or a process forked from it, ends it with a message. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    (void)thread, (void)attributes, (void)start, (void)argument;
    fprintf(stderr, "it starts a thread: take its name out of BENCHCNN_SEQUENTIAL in tests/CMakeLists.txt\n");
    _exit(1);
}
