/* wire.h: messages between two processes over a socket: a number that says what it is about, and bytes that are put and
 * taken one thing after another. What is taken is a copy: nobody else can change it any more. What the other end sends
 * is not trusted: too little of it is zeros, and `broken` is set. */
#ifndef HARNESS_PROCESS_WIRE_H
#define HARNESS_PROCESS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRE_MOST = 1 << 24 };

typedef struct wire_message { /* all zeros at first */
    uint32_t what;
    bool broken; /* memory was short, or less came than was taken */
    unsigned char *bytes;
    size_t length, room, at; /* at: what is taken next */
} wire_message;

void wire_begin(wire_message *m, uint32_t what);
void wire_put(wire_message *m, const void *from, size_t bytes);
/* Read no further than `most` bytes; NULL: a text that is not there. */
void wire_put_text(wire_message *m, const char *text, size_t most);
void wire_take(wire_message *m, void *to, size_t bytes);
/* It ends, and is good until the next message; NULL: it is not there. */
const char *wire_take_text(wire_message *m);
/* Whether all of it was taken, and nothing was missing. */
bool wire_whole(const wire_message *m);
void wire_free(wire_message *m);

/* False: the other end is gone, or (receive) what came is no message, or memory is short. */
bool wire_send(int fd, const wire_message *m);
bool wire_receive(int fd, wire_message *m);

#define WIRE_PUT(m, value) wire_put((m), &(value), sizeof(value))
#define WIRE_TAKE(m, value) wire_take((m), &(value), sizeof(value))

#endif
