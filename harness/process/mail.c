/* mail.c: see mail.h. */
#include "mail.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

cnn_status mail_open(mail *m, mail_box *box, cnn_error *err)
{
    *m = (mail){.box = box, .part = malloc(sizeof *m->part)};
    if (m->part == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for what a child process says");
    if (sem_init(&box->bell, 1, 0) == 0 && sem_init(&box->answered, 1, 0) == 0) return CNN_OK;
    return CNN_FAIL(err, CNN_INTERNAL, "processes cannot wait for each other here: %s", strerror(errno));
}

void mail_begin(mail *m)
{
    m->key = hash_new_key();
    m->number = 0;
    m->length = 0;
    atomic_store(&m->box->full, false);
    (void)sem_init(&m->box->answered, 1, 0);
}

void mail_close(mail *m)
{
    free(m->message);
    free(m->part);
    *m = (mail){.box = NULL};
}

static uint64_t tag_of(const mail *m, const mail_part *part)
{
    return keyed_hash(&m->key, part, offsetof(mail_part, bytes) + part->length);
}

static void wait_for(sem_t *sem)
{
    while (sem_wait(sem) != 0 && errno == EINTR) continue;
}

void mail_ask(mail *m, const void *message, size_t length, mail_answer *answer)
{
    mail_box *box = m->box;
    const char *at = message;
    do {
        const size_t some = length < MAIL_PART ? length : MAIL_PART;
        box->part.number = m->number++;
        box->part.length = (uint32_t)some;
        box->part.more = some < length;
        memcpy(box->part.bytes, at, some);
        box->tag = tag_of(m, &box->part);
        atomic_store(&box->full, true);
        sem_post(&box->bell);
        wait_for(&box->answered);
        at += some;
        length -= some;
    } while (length > 0);
    *answer = box->answer;
    answer->text[sizeof answer->text - 1] = '\0';
}

mail_state mail_take(mail *m)
{
    mail_box *box = m->box;
    if (!atomic_load(&box->full)) return MAIL_NONE;
    const size_t needed = m->length + MAIL_PART + 1;
    char *longer = m->room < needed ? realloc(m->message, 2 * needed) : m->message;
    if (longer == NULL) return MAIL_NO_MEMORY;
    m->room = m->room < needed ? 2 * needed : m->room;
    m->message = longer;
    memcpy(m->part, &box->part, sizeof *m->part);
    const mail_part *part = m->part;
    if (part->length > MAIL_PART || part->number != m->number || box->tag != tag_of(m, part)) return MAIL_FORGED;
    m->number++;
    memcpy(m->message + m->length, part->bytes, part->length);
    m->length += part->length;
    m->message[m->length] = '\0';
    if (part->more == 0) return MAIL_WHOLE;
    atomic_store(&box->full, false);
    sem_post(&box->answered);
    return MAIL_PARTLY;
}

void mail_reply(mail *m, const mail_answer *answer)
{
    m->box->answer = *answer;
    m->length = 0;
    atomic_store(&m->box->full, false);
    sem_post(&m->box->answered);
}

void mail_wait(mail_box *box, int64_t milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const int64_t nanoseconds = until.tv_nsec + milliseconds % 1000 * 1000000;
    until.tv_sec += (time_t)(milliseconds / 1000 + nanoseconds / 1000000000);
    until.tv_nsec = (long)(nanoseconds % 1000000000);
    (void)sem_clockwait(&box->bell, CLOCK_MONOTONIC, &until);
}
