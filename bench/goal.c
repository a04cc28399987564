/* goal.c: goals of trainings to and from records, and what is known of them. */
#include "goal.h"

#include "harness/base/grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const outcomes[GOAL_OUTCOMES] = {"reached", "not reached", "diverged"};

static const char *const kinds[GOAL_KINDS] = {"loss", "accuracy"};

bool goal_met(goal_kind of, double goal, double loss, double accuracy)
{
    return of == GOAL_ACCURACY ? accuracy >= goal : loss < goal;
}

bool goal_same(goal_kind of, double goal, const goal_row *row)
{
    return row->of == of && row->goal >= goal && row->goal <= goal;
}

const char *goal_text(goal_kind of, double goal, char text[64])
{
    snprintf(text, 64, of == GOAL_ACCURACY ? "%g %%" : "%g", of == GOAL_ACCURACY ? goal * 100 : goal);
    return text;
}

const char *goal_outcome_text(goal_outcome outcome) { return outcomes[outcome]; }

cnn_record *goal_record(const cnn_session *session, const goal_row *row)
{
    char marks[128];
    cnn_record *record = epoch_record_new("goal", session, &row->setting);
    record_text(record, "goal_of", kinds[row->of]);
    record_real(record, "goal", row->goal);
    record_text(record, "outcome", outcomes[row->outcome]);
    record_int(record, "epochs", row->epochs);
    record_real(record, "seconds", row->seconds);
    record_real(record, "train_s", row->train_s);
    record_real(record, "test_loss", row->loss);
    record_real(record, "test_accuracy", row->accuracy);
    record_text(record, "marks", bench_marks_text(row->marks, marks, sizeof marks));
    return record;
}

bool goal_row_read(const cnn_record *record, goal_row *row)
{
    const char *outcome = record_get_text(record, "outcome"), *of = record_get_text(record, "goal_of");
    const double epochs = record_get_real(record, "epochs");
    if (strcmp(record_get_text(record, "kind"), "goal") != 0 || outcome == NULL) return false;
    row->outcome = GOAL_OUTCOMES;
    for (int i = 0; i < GOAL_OUTCOMES; i++)
        if (strcmp(outcome, outcomes[i]) == 0) row->outcome = (goal_outcome)i;
    row->of = of != NULL && strcmp(of, kinds[GOAL_ACCURACY]) == 0 ? GOAL_ACCURACY : GOAL_LOSS; /* unsaid: loss */
    row->goal = record_get_real(record, "goal");
    row->epochs = epochs >= 1.0 && epochs < 1e9 ? (int64_t)epochs : 0;
    row->seconds = record_get_real(record, "seconds");
    row->train_s = record_get_real(record, "train_s");
    row->loss = record_get_real(record, "test_loss");
    row->accuracy = record_get_real(record, "test_accuracy");
    row->marks = bench_marks_of(record_get_text(record, "marks"));
    return row->outcome < GOAL_OUTCOMES && row->epochs > 0 && isfinite(row->goal);
}

cnn_status goal_table_add(goal_table *table, const goal_row *row, cnn_error *err)
{
    int kept = 0;
    for (int i = 0; i < table->count; i++) {
        const goal_row *old = &table->rows[i];
        const bool replaced = goal_same(row->of, row->goal, old) && epoch_same_setting(&old->setting, &row->setting);
        if (!replaced && !epoch_other_build(&old->setting, &row->setting)) table->rows[kept++] = *old;
    }
    table->count = kept;
    goal_row *added = cnn_add_item(&table->rows, &table->count, &table->capacity, sizeof *row, "goals", err);
    if (added == NULL) return err->status;
    *added = *row;
    return CNN_OK;
}

void goal_table_free(goal_table *table)
{
    free(table->rows);
    *table = (goal_table){.count = 0};
}

const goal_row *goal_find(const goal_table *table, const epoch_setting *setting, goal_kind of, double goal,
                          int64_t epochs)
{
    for (int i = 0; i < table->count; i++) {
        const goal_row *row = &table->rows[i];
        const bool told = row->outcome == GOAL_REACHED    ? row->epochs <= epochs
                          : row->outcome == GOAL_DIVERGED ? true
                                                          : row->epochs >= epochs;
        if (told && goal_same(of, goal, row) && epoch_same_setting(&row->setting, setting)) return row;
    }
    return NULL;
}
