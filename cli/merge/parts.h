/* parts.h: what the files of `benchcnn merge` share: cmd_merge.c reads the files and says what came of it, take.c takes
 * record by record, groups.c knows which shards of which command there are, environments.c who ran them. */
#ifndef CLI_MERGE_PARTS_H
#define CLI_MERGE_PARTS_H

#include "cli/cli.h"

enum { MERGE_STATES = 16, MERGE_STATE_MAX = 24, MERGE_LABEL_MAX = 768 };

/* Machine, device, program: all that stands in the environment records of a run, but for what changes from run to run.
 */
typedef struct merge_environment {
    char *key, label[MERGE_LABEL_MAX];
    int64_t records;
} merge_environment;

enum { SHARD_THERE = 1, SHARD_BEGUN = 2, SHARD_ENDED = 4 };

/* One command, whose shards are its parts; a run without --shard is the one shard of one. */
typedef struct merge_group {
    char *command; /* without what shards may differ in */
    int64_t of;
    unsigned char *shards; /* `of` of them: SHARD_... */
    struct {
        char state[MERGE_STATE_MAX];
        int64_t count;
    } states[MERGE_STATES]; /* of its cases, each counted once */
    int n_states;
} merge_group;

typedef struct merge_run {
    const cli_options *options;
    const char *path;          /* the file that is read */
    int64_t file_records, bad; /* of it */
    int group, environment;    /* of the record in hand; -1: not told */
    int64_t shard;             /* from 0 */
    bool beginning;            /* its environment is being read: records wait until it is known */
    char **waiting;            /* lines */
    int n_waiting, room_waiting;
    merge_environment now; /* what has been read of the environment */
    merge_environment *environments;
    int n_environments, room_environments;
    merge_group *groups;
    int n_groups, room_groups;
    int *of_ranks; /* over ranks: environments, by the rank; -1: not told */
    int n_ranks, room_ranks;
    void *lines, *verdicts, *cases; /* trees */
    FILE *text;                     /* what is to be written */
    int64_t read, written, duplicates, differ;
} merge_run;

/* take.c: record_each; user: the run. */
cnn_status merge_take(void *user, const cnn_record *record, cnn_error *err);
/* The file is at its end. */
cnn_status merge_end_file(merge_run *m, cnn_error *err);
void merge_free(merge_run *m);

/* groups.c. Sets m->group and m->shard by a record with a command, and what is known of the shard. */
cnn_status merge_find_group(merge_run *m, const cnn_record *record, unsigned char known, cnn_error *err);
void merge_add_cases(merge_group *g, const char *state, int64_t count);
/* A line for each command: its shards and the tallies of its cases. Then those that are missing or have no end; how
 * many commands have such ones. */
void merge_print_groups(const merge_run *m);
int merge_print_missing(const merge_run *m);

/* environments.c. One more record of the environment in hand; then all of them have come: m->environment. */
cnn_status merge_read_environment(merge_run *m, const cnn_record *record, cnn_error *err);
cnn_status merge_find_environment(merge_run *m, cnn_error *err);
void merge_print_environments(const merge_run *m);

#endif
