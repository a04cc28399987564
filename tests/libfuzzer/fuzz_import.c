/* A file of another program's timings: hyperfine's, Google Benchmark's, nvbench's. What is taken of it are records that
 * keep to the table of fields, of one kind for each program, and are the same when they are read again. */
#include "target.h"

#include "bench/import/import.h"

static void hear(void *user, const char *field, const char *what, bool grave)
{
    (void)user, (void)grave;
    fprintf(stderr, "%s %s\n", field, what);
    require(false, "a record keeps to the table of fields");
}

/* hyperfine's --parameter-scan. */
static void check_parameters(const cnn_record *record)
{
    enum { PAIRS = 64 };
    record_pair pairs[PAIRS];
    const int count = record_get_pairs(record, "parameters", pairs, PAIRS);
    for (int i = 0; i < count; i++) {
        require(pairs[i].key[0] != '\0', "a parameter has a name");
        for (int k = 0; k < i; k++) require(strcmp(pairs[i].key, pairs[k].key) != 0, "of its own");
    }
}

static cnn_status look(void *user, const cnn_record *record, cnn_error *err)
{
    const import_set *set = user;
    const char *kind = record_get_text(record, "kind"), *id = record_get_text(record, "source_id");
    (void)err;
    require(strcmp(kind, strcmp(set->by, "hyperfine") == 0 ? "process" : "benchmark") == 0, "a kind for each program");
    require(id != NULL && strcmp(id, set->id) == 0, "a record says which file it is from");
    require(record_get_text(record, "program") != NULL, "a record says what was timed");
    record_check(record, hear, NULL);
    check_parameters(record);
    return CNN_OK;
}

/* They are given to the file. */
static void write_and_read(import_set *set)
{
    const input_file file = input_file_make(NULL, 0);
    record_sink *sink;
    cnn_error err = {.message = ""};
    int bad = 0;
    require(record_sink_open(file.path, NULL, &sink, &err) == CNN_OK, "a file in memory takes records");
    for (int i = 0; i < set->count; i++) {
        require(record_write(sink, set->list[i], &err) == CNN_OK, "a record is written");
        set->list[i] = NULL;
    }
    record_sink_close(sink);
    require(record_read(file.path, look, set, &bad, &err) == CNN_OK && bad == 0, "and read again");
    input_file_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const input_file file = input_file_make(data, size);
    cnn_error err = {.message = ""};
    import_set set;
    const cnn_status status = import_read(file.path, &set, &err);
    if (status != CNN_OK) {
        require_refusal(status, &err);
        require(set.count == 0 && set.list == NULL, "nothing is left of a file that is refused");
    } else {
        require(set.count > 0 && set.timed >= 0 && set.timed <= set.count, "it holds a timing");
        write_and_read(&set);
        import_free(&set);
    }
    input_file_free(&file);
    return 0;
}
