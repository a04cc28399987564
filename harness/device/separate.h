/* separate.h: an implementation in a process of its own (process/runner.h). Here stands an implementation that passes
 * on each call as a message and waits for the answer; there serve.c calls the real one. Operands lie in memory that
 * both share, at the same addresses; nothing else of this process does. So whatever code the other loads sees its
 * inputs when it is called, and what is expected of it never.
 *
 * What comes from there is checked as what a plug-in in this process says is, and copied before. One that is lost is
 * told to `lost`. Of implementations whose memory is the host's, without trainers, capture and clock of their own. */
#ifndef HARNESS_DEVICE_SEPARATE_H
#define HARNESS_DEVICE_SEPARATE_H

#include "harness/base/text.h"
#include "harness/process/bounds.h"
#include "harness/process/runner.h"
#include "harness/process/wire.h"
#include "registry.h"
#include "slots.h"

/* What a message asks for. */
enum {
#define SEPARATE_SLOT(slot, type) SEPARATE_##slot,
    CNN_SLOTS(SEPARATE_SLOT) CNN_BIAS_SLOTS(SEPARATE_SLOT)
#undef SEPARATE_SLOT
        SEPARATE_TABLE, /* the first that is asked for, once */
    SEPARATE_OPEN,
    SEPARATE_CLOSE,
    SEPARATE_DESCRIBE,
    SEPARATE_SYNC,
    SEPARATE_SUPPORTS,
    SEPARATE_PREPARE,
    SEPARATE_RELEASE,
    SEPARATE_ENUMERATE,
    SEPARATE_PAGES, /* opens or closes some of the memory that is shared */
    SEPARATE_BOUNDS_BEGIN,
    SEPARATE_BOUNDS_END,
    SEPARATE_HEAP,
    SEPARATE_SECOND, /* from here on it also listens to the second socket */
    SEPARATE_COUNT
};

/* What a table has beside its texts and numbers, in the message that tells it. */
typedef struct separate_features {
    uint64_t dtypes;
    uint32_t slots; /* 1 << SEPARATE_conv_fwd ... */
    int32_t device_kind;
    int32_t n_algorithms, n_knobs;
    uint8_t describe, sync, prepare, release, enumerate, memory;
} separate_features;

/* Called when its process is lost, and how; it need not return. */
typedef void separate_lost(void *user, const char *how);

/* A conversation: one call at a time. Another host thread, with another context, has the second. */
typedef struct separate_channel {
    pthread_mutex_t lock;
    wire_message message;
} separate_channel;

typedef struct separate {
    cnn_impl_copy copy; /* first: what it is known by */
    runner process;
    separate_channel channels[RUNNER_SOCKETS];
    atomic_bool second; /* the second is listened to */
    atomic_bool gone;
    separate_lost *lost;
    void *user;
    char path[4096]; /* of the file that its code is in; "": of none that lasts */
    cnn_algorithm *algorithms;
    cnn_knob *knobs;
    pthread_mutex_t texts_lock;
    cnn_said texts; /* names and docs that it told: they live as long as it does */
} separate;

/* Starts the runner, with `words` for its command line and `code` for an open file (or -1), and asks for its table.
 * CNN_UNAVAILABLE: what it is to load cannot be loaded, or not be run so. */
cnn_status separate_start(const char *path, const char *const words[], int code, separate_lost *lost, void *user,
                          separate **result, cnn_error *err);
void separate_stop(separate *s);
/* plugin.c: it is the registry's from here on; with an error it is gone. */
cnn_status cnn_registry_add_separate(cnn_registry *registry, separate *s, const char *path, cnn_error *err);
/* NULL: it runs in this process. */
separate *separate_of(const cnn_impl *impl);

/* ---- For host.c and memory.c: a block of the memory that is shared, of which `inner` bytes behind `fence` can be
 * touched there. */
cnn_status separate_take(const cnn_session *session, size_t all, size_t fence, size_t inner, void **memory,
                         cnn_error *err);
/* Of `bytes`, aligned to CNN_ALIGN and to no more. */
cnn_status separate_alloc(const cnn_session *session, size_t bytes, void **memory, cnn_error *err);
void separate_give(const cnn_session *session, void *memory);
cnn_status separate_bounds_begin(const cnn_session *session, bounds_list *b, cnn_error *err);
cnn_status separate_bounds_end(const cnn_session *session, bounds_list *b, cnn_error *err);
int64_t separate_heap(const cnn_session *session);

/* ---- What its files share. */

/* Between the two a message can be put together, sent and read. Ask: the answer's status, which the rest of the message
 * follows. End: CNN_INTERNAL, where more or less came than was taken. */
separate_channel *separate_begin(separate *s, uint32_t what);
cnn_status separate_ask(separate *s, separate_channel *c, cnn_error *err);
cnn_status separate_end(separate *s, separate_channel *c, cnn_status status, cnn_error *err);
/* A text that is kept, the same for the same; NULL: no memory, or `text` is NULL. */
const char *separate_keep(separate *s, const char *text);

/* separate_table.c: the table, put into a message there and taken out of it here; also of algorithms alone. */
void separate_put_algorithms(wire_message *m, const cnn_algorithm *list, int count);
void separate_take_algorithms(separate *s, wire_message *m, cnn_algorithm *list, int count);
void separate_put_table(wire_message *m, const cnn_impl *impl);
cnn_status separate_take_table(separate *s, wire_message *m, cnn_error *err);
/* separate_calls.c: the functions of the table. */
void separate_put_slots(separate *s, const separate_features *f);

/* serve.c, in the runner (serve.h): answers until the other process is gone, and ends this one. `loaded`: with what
 * status, and error, loading it ended. */
_Noreturn void separate_serve(const cnn_impl *impl, const int sockets[RUNNER_SOCKETS], cnn_status loaded,
                              const cnn_error *err);

#endif
