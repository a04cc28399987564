/* goal.h: how long a training took until its test loss was below a goal (`train --until-loss`), or its test accuracy
 * at one (`--until-accuracy`), as a record of kind "goal" and back. */
#ifndef BENCH_GOAL_H
#define BENCH_GOAL_H

#include "bench/epoch.h"

typedef enum goal_outcome { GOAL_REACHED, GOAL_NOT_REACHED, GOAL_DIVERGED, GOAL_OUTCOMES } goal_outcome;

typedef enum goal_kind { GOAL_LOSS, GOAL_ACCURACY, GOAL_KINDS } goal_kind;

typedef struct goal_row {
    epoch_setting setting;
    goal_kind of;
    double goal; /* the test loss, a mean over the images, to be below; the test accuracy, a share, to have at least */
    goal_outcome outcome;
    int64_t epochs;        /* up to the one that reached it; else up to the last */
    double seconds;        /* of these epochs, their tests included; NaN: not timed, or some are of another process */
    double train_s;        /* of their training alone */
    double loss, accuracy; /* behind the last of them, on the test images */
    unsigned marks;        /* of at least half of these epochs: bench/measure/stats.h */
} goal_row;

typedef struct goal_table {
    goal_row *rows;
    int count, capacity;
} goal_table;

const char *goal_outcome_text(goal_outcome outcome); /* "reached", "not reached", "diverged" */
bool goal_met(goal_kind of, double goal, double loss, double accuracy);
bool goal_same(goal_kind of, double goal, const goal_row *row);
/* "0.1", or "99 %" */
const char *goal_text(goal_kind of, double goal, char text[64]);
/* NULL when out of memory (record_write() says so). */
cnn_record *goal_record(const cnn_session *session, const goal_row *row);
/* False where the record is of another kind, or lacks what a goal is told by. The setting but for the machine, which
 * epoch_table_read() adds. */
bool goal_row_read(const cnn_record *record, goal_row *row);

/* Of one setting and goal the latest counts; what another build measured goes. */
cnn_status goal_table_add(goal_table *table, const goal_row *row, cnn_error *err);
void goal_table_free(goal_table *table);
/* What a training of so many epochs at most comes to, where it is known: the goal was reached, or not in so many. NULL:
 * it is to be trained. */
const goal_row *goal_find(const goal_table *table, const epoch_setting *setting, goal_kind of, double goal,
                          int64_t epochs);

#endif
