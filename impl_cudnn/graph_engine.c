/* graph_engine.c: the engines of an operation graph, their configurations, and what cuDNN's heuristics propose. */
#include "impl_cudnn/graph.h"

cnn_status graph_engine_open(cudnnBackendDescriptor_t graph, int64_t index, cudnnBackendDescriptor_t *engine,
                             cnn_error *err)
{
    char what[CNN_NAME_MAX];
    snprintf(what, sizeof what, "engine %lld", (long long)index);
    graph_maker m = graph_make(CUDNN_BACKEND_ENGINE_DESCRIPTOR, what, err);
    graph_set_part(&m, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    graph_set_int64(&m, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, index);
    return graph_finish(&m, engine);
}

static cnn_status make_choices(const graph_config *config, cudnnBackendDescriptor_t *choices, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; i < config->n_knobs && status == CNN_OK; i++) {
        graph_maker m = graph_make(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, "choice of a knob", err);
        graph_set(&m, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &config->knobs[i].type);
        graph_set_int64(&m, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, config->knobs[i].value);
        status = graph_finish(&m, &choices[i]);
    }
    return status;
}

cnn_status graph_config_open(cudnnBackendDescriptor_t graph, const graph_config *config, cudnnBackendDescriptor_t *made,
                             cnn_error *err)
{
    cudnnBackendDescriptor_t engine = NULL, choices[GRAPH_KNOBS_MAX] = {NULL};
    char what[CNN_NAME_MAX];
    *made = NULL;
    cnn_status status = graph_engine_open(graph, config->engine, &engine, err);
    if (status == CNN_OK) status = make_choices(config, choices, err);
    if (status == CNN_OK) {
        snprintf(what, sizeof what, "configuration of engine %lld", (long long)config->engine);
        graph_maker m = graph_make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, what, err);
        graph_set_part(&m, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
        if (config->n_knobs > 0)
            graph_set(&m, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, config->n_knobs, choices);
        status = graph_finish(&m, made);
    }
    for (int i = 0; i < config->n_knobs; i++) graph_drop(&choices[i]);
    graph_drop(&engine);
    return status;
}

bool graph_engine_next(cudnnBackendDescriptor_t graph, graph_tail tail, int64_t *next, graph_config *config,
                       cnn_error *err)
{
    int64_t engines = 0;
    if (graph_read_one(graph, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, CUDNN_TYPE_INT64, &engines, err) != CNN_OK)
        return false;
    while (*next < engines) {
        cudnnBackendDescriptor_t made;
        *config = (graph_config){.engine = (*next)++, .tail = tail};
        if (graph_config_open(graph, config, &made, err) != CNN_OK) continue;
        graph_drop(&made);
        return true;
    }
    return false;
}

void graph_config_name(const graph_config *config, char *name, size_t size)
{
    static const char *const tails[] = {[GRAPH_BARE] = "", [GRAPH_BIAS] = "bias_", [GRAPH_FUSED] = "fused_"};
    int used = snprintf(name, size, "%seng%lld", tails[config->tail], (long long)config->engine);
    for (int i = 0; i < config->n_knobs && (size_t)used < size; i++)
        used += snprintf(name + used, size - (size_t)used, " k%d=%lld", (int)config->knobs[i].type,
                         (long long)config->knobs[i].value);
}

/* ---- A proposal of the heuristics is a finished configuration; its numbers are read out of it. */

/* Descriptors for cuDNN to fill. */
static cnn_status make_empty(cudnnBackendDescriptorType_t type, int64_t count, cudnnBackendDescriptor_t *list,
                             cnn_error *err)
{
    for (int64_t i = 0; i < count; i++) {
        const graph_maker m = graph_make(type, "empty descriptor", err);
        if (m.status != CNN_OK) return m.status;
        list[i] = m.made;
    }
    return CNN_OK;
}

static cnn_status read_knobs(cudnnBackendDescriptor_t from, graph_config *config, cnn_error *err)
{
    cudnnBackendDescriptor_t choices[GRAPH_KNOBS_MAX] = {NULL};
    int64_t count = 0;
    cnn_status status = make_empty(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, GRAPH_KNOBS_MAX, choices, err);
    if (status == CNN_OK)
        status = graph_read(from, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, GRAPH_KNOBS_MAX,
                            &count, choices, err);
    config->n_knobs = count < GRAPH_KNOBS_MAX ? (int)count : GRAPH_KNOBS_MAX;
    for (int i = 0; i < config->n_knobs && status == CNN_OK; i++) {
        status = graph_read_one(choices[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE,
                                &config->knobs[i].type, err);
        if (status == CNN_OK)
            status = graph_read_one(choices[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64,
                                    &config->knobs[i].value, err);
    }
    for (int i = 0; i < GRAPH_KNOBS_MAX; i++) graph_drop(&choices[i]);
    return status;
}

static cnn_status read_config(cudnnBackendDescriptor_t from, graph_config *config, cnn_error *err)
{
    cudnnBackendDescriptor_t engine = NULL;
    cnn_status status = make_empty(CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1, &engine, err);
    if (status == CNN_OK)
        status = graph_read_one(from, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, &engine, err);
    if (status == CNN_OK)
        status = graph_read_one(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, &config->engine, err);
    graph_drop(&engine);
    return status == CNN_OK ? read_knobs(from, config, err) : status;
}

static bool same_config(const graph_config *a, const graph_config *b)
{
    if (a->engine != b->engine || a->tail != b->tail || a->n_knobs != b->n_knobs) return false;
    for (int i = 0; i < a->n_knobs; i++)
        if (a->knobs[i].type != b->knobs[i].type || a->knobs[i].value != b->knobs[i].value) return false;
    return true;
}

static void append(const graph_config *config, graph_config *list, int *count)
{
    for (int i = 0; i < *count; i++)
        if (same_config(&list[i], config)) return;
    if (*count < GRAPH_PROPOSALS_MAX) list[(*count)++] = *config;
}

cnn_status graph_heuristics(cudnnBackendDescriptor_t graph, cudnnBackendHeurMode_t mode, graph_tail tail,
                            graph_config list[GRAPH_PROPOSALS_MAX], int *count, cnn_error *err)
{
    cudnnBackendDescriptor_t heuristics = NULL, results[GRAPH_PROPOSALS_MAX] = {NULL};
    int64_t found = 0;
    graph_maker m = graph_make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, "question to the heuristics", err);
    graph_set_part(&m, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    graph_set(&m, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    cnn_status status = graph_finish(&m, &heuristics);
    if (status == CNN_OK)
        status =
            graph_read(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &found, NULL, err);
    if (found > GRAPH_PROPOSALS_MAX) found = GRAPH_PROPOSALS_MAX;
    if (status == CNN_OK) status = make_empty(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, found, results, err);
    if (status == CNN_OK && found > 0)
        status = graph_read(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, found, &found,
                            results, err);
    for (int64_t i = 0; i < found && status == CNN_OK; i++) {
        graph_config config = {.tail = tail};
        if (read_config(results[i], &config, err) == CNN_OK) append(&config, list, count);
    }
    for (int i = 0; i < GRAPH_PROPOSALS_MAX; i++) graph_drop(&results[i]);
    graph_drop(&heuristics);
    return status;
}
