/* pieces.h: a command whose work is many pieces, over ranks: rank 0 gives them out and gathers what comes of them, the
 * others do them. Pieces are numbered, the same way on all ranks. Rank 0 calls no implementation for them, unless it
 * shrinks what failed.
 *
 * A rank that does pieces goes through all of them in their order and does those that it is given, which are ever later
 * ones. What it prints and records it sends when it asks for the next. Where there is one process, nothing of this does
 * anything, and all pieces are its own, or its shard's. */
#ifndef CLI_PIECES_H
#define CLI_PIECES_H

#include "cli.h"
#include "cli/ranks.h"

enum piece_part { PIECE_RECORDS, PIECE_OUT, PIECE_ERR, PIECE_SUMS, PIECE_PARTS };
enum { PIECE_STATE_MAX = 24 };

/* What a rank sends. */
typedef struct piece_report {
    int from;
    bool last;      /* it has come to its end, with so many pieces in all */
    int64_t number; /* of the piece that is done; -1: none is */
    int64_t all;
    char state[PIECE_STATE_MAX]; /* what became of it; "": nothing that is recorded */
    const char *part[PIECE_PARTS];
    size_t size[PIECE_PARTS];
} piece_report;

typedef struct cli_pieces {
    struct ranks *ranks; /* NULL: one process */
    struct ranks *alone; /* a launcher started it all the same */
    int64_t given, done; /* the piece in hand, or the next one; the one that was done since the last report; -1: none */
    char state[PIECE_STATE_MAX];
    FILE *stream[PIECE_SUMS]; /* what a rank that does pieces prints and records */
    char *bytes[PIECE_SUMS];
    size_t size[PIECE_SUMS];
    int threads;  /* that this rank has cores for */
    FILE *silent; /* what standard output and error are behind that */
} cli_pieces;

/* As cli_ranks_open(); --shard is refused. *own: of a rank that does pieces its standard output, messages and records
 * go to rank 0. Of one rank p->ranks is NULL. */
cnn_status cli_pieces_open(const cli_options *options, cli_options *own, cli_pieces *p, cnn_error *err);
void cli_pieces_close(cli_pieces *p);
static inline bool cli_pieces_gives(const cli_pieces *p) { return p->ranks != NULL && p->ranks->rank == 0; }
static inline bool cli_pieces_does(const cli_pieces *p) { return p->ranks != NULL && p->ranks->rank > 0; }
/* Names that decide over the numbers, such as implementations: refused where those that do pieces differ. */
cnn_status cli_pieces_alike(cli_pieces *p, const char *names, cnn_error *err);
/* Records say host, rank, and what this session runs on. */
void cli_pieces_mark(const cli_pieces *p, const cnn_session *session, record_sink *sink);

/* Of one that does pieces. Whether this one is its own: asks for the next where it was not told yet. What cannot be
 * sent ends all ranks. */
bool cli_pieces_mine(cli_pieces *p, int64_t number);
/* The next one that is its own; INT64_MAX: there is none. */
int64_t cli_pieces_next(cli_pieces *p);
/* The piece in hand is done. */
void cli_pieces_done(cli_pieces *p, const char *state);
/* There are so many, and this one has done its own: what it counted. */
void cli_pieces_end(cli_pieces *p, int64_t all, const void *sums, size_t size);

/* Of rank 0. `next`: the number of a piece that is to be done, or INT64_MAX; `take`: what a rank has done. */
typedef struct cli_giver {
    void *user;
    int64_t (*next)(void *user);
    cnn_status (*take)(void *user, const piece_report *report, cnn_error *err);
} cli_giver;
/* Until all ranks have come to their end. CNN_INTERRUPTED after Ctrl-C; the caller then ends all. *all: pieces;
 * CNN_INTERNAL where ranks counted differently. */
cnn_status cli_pieces_give(cli_pieces *p, const cli_giver *giver, int64_t *all, cnn_error *err);
/* Writes its records, then, of a piece with a state, that it is done; prints the rest. */
cnn_status cli_pieces_write(const cli_output *output, const piece_report *report, cnn_error *err);

#endif
