/* mail.h: messages from a run to the process that watches it, and an answer to each, through memory that both share. No
 * pipe: foreign code in the run would close it, or write to it with whatever else it finds open.
 *
 * A message carries the number that comes next and a keyed hash of itself. The key is drawn for each run, and lies in
 * memory that is not shared. */
#ifndef HARNESS_PROCESS_MAIL_H
#define HARNESS_PROCESS_MAIL_H

#include "harness/base/keyed_hash.h"
#include "harness/cnn.h"

#include <semaphore.h>
#include <stdatomic.h>

enum { MAIL_PART = 1 << 16 }; /* a longer message goes in parts */

typedef struct mail_part {
    uint64_t number;
    uint32_t length, more; /* more: another part follows */
    unsigned char bytes[MAIL_PART];
} mail_part;

typedef struct mail_answer {
    int32_t status; /* a cnn_status */
    int64_t numbers[3];
    char text[CNN_MESSAGE_MAX];
} mail_answer;

typedef struct mail_box { /* in memory that both processes share, zeros at first */
    sem_t bell;           /* of the one that watches: a part lies here, or a child ended */
    sem_t answered;       /* of the run */
    atomic_bool full;
    uint64_t tag;
    mail_part part;
    mail_answer answer;
} mail_box;

typedef struct mail { /* one end, in memory of its process alone; a fork() makes the other out of it */
    mail_box *box;
    hash_key key;
    uint64_t number; /* of the next part */
    mail_part *part; /* a copy: what lies in shared memory may change while it is looked at */
    char *message;   /* what has come of it, in the process that watches */
    size_t length, room;
} mail;

cnn_status mail_open(mail *m, mail_box *box, cnn_error *err);
/* Before the fork() of a run: a new key; what a run before it left half said is forgotten. */
void mail_begin(mail *m);
void mail_close(mail *m);

/* In the run: sends `length` bytes and waits for the answer. */
void mail_ask(mail *m, const void *message, size_t length, mail_answer *answer);

/* In the process that watches. Takes the part that lies there, if one does. MAIL_WHOLE: m->message is a message, to be
 * answered; MAIL_FORGED: it is none that the run's end of this made. */
typedef enum mail_state { MAIL_NONE, MAIL_PARTLY, MAIL_WHOLE, MAIL_FORGED, MAIL_NO_MEMORY } mail_state;
mail_state mail_take(mail *m);
void mail_reply(mail *m, const mail_answer *answer);
/* Waits for the bell, at most so long. */
void mail_wait(mail_box *box, int64_t milliseconds);

#endif
