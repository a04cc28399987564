/* wire.c: see wire.h. */
#include "wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

typedef struct wire_head {
    uint32_t what, length;
} wire_head;

static bool make_room(wire_message *m, size_t bytes)
{
    if (bytes > WIRE_MOST || m->length > WIRE_MOST - bytes) return false;
    const size_t needed = m->length + bytes;
    if (needed <= m->room) return true;
    unsigned char *longer = realloc(m->bytes, 2 * needed);
    if (longer == NULL) return false;
    m->bytes = longer;
    m->room = 2 * needed;
    return true;
}

void wire_begin(wire_message *m, uint32_t what)
{
    m->what = what;
    m->length = m->at = 0;
    m->broken = false;
}

void wire_put(wire_message *m, const void *from, size_t bytes)
{
    if (m->broken || !make_room(m, bytes)) {
        m->broken = true;
        return;
    }
    if (bytes > 0) memcpy(m->bytes + m->length, from, bytes);
    m->length += bytes;
}

void wire_put_text(wire_message *m, const char *text, size_t most)
{
    const bool there = text != NULL;
    const char end = '\0';
    WIRE_PUT(m, there);
    if (!there) return;
    wire_put(m, text, strnlen(text, most));
    WIRE_PUT(m, end);
}

void wire_take(wire_message *m, void *to, size_t bytes)
{
    m->broken = m->broken || bytes > m->length - m->at;
    memset(to, 0, bytes);
    if (m->broken || bytes == 0) return;
    memcpy(to, m->bytes + m->at, bytes);
    m->at += bytes;
}

const char *wire_take_text(wire_message *m)
{
    unsigned char there; /* no bool: any byte may come */
    WIRE_TAKE(m, there);
    if (m->broken || there == 0) return NULL;
    const char *text = (const char *)m->bytes + m->at;
    const size_t length = strnlen(text, m->length - m->at);
    m->broken = length == m->length - m->at;
    if (m->broken) return NULL;
    m->at += length + 1;
    return text;
}

bool wire_whole(const wire_message *m) { return !m->broken && m->at == m->length; }

void wire_free(wire_message *m)
{
    free(m->bytes);
    *m = (wire_message){.what = 0};
}

static bool send_all(int fd, const void *from, size_t bytes)
{
    for (const char *at = from; bytes > 0;) {
        const ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

static bool receive_all(int fd, void *to, size_t bytes)
{
    for (char *at = to; bytes > 0;) {
        const ssize_t got = recv(fd, at, bytes, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

bool wire_send(int fd, const wire_message *m)
{
    const wire_head head = {m->what, (uint32_t)m->length};
    return !m->broken && send_all(fd, &head, sizeof head) && send_all(fd, m->bytes, m->length);
}

bool wire_receive(int fd, wire_message *m)
{
    wire_head head;
    if (!receive_all(fd, &head, sizeof head) || head.length > WIRE_MOST) return false;
    wire_begin(m, head.what);
    if (!make_room(m, head.length) || !receive_all(fd, m->bytes, head.length)) return false;
    m->length = head.length;
    return true;
}
