/* epoch_setting.c: what two runs must share for their times to be comparable: asked of the session, the trainer and the
 * network. Over ranks the network is the one with the global batch. */
#include "epoch.h"

#include "harness/cpu/limits.h"
#include "harness/cpu/threads.h"
#include "harness/problem/names.h"
#include "harness/record/identity.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void epoch_text(char *field, size_t size, const char *text)
{
    enum { CRC_SIZE = sizeof " crc 12345678" };
    const size_t length = text ? strlen(text) : 0;
    snprintf(field, size, "%.*s", (int)size - 1, text ? text : "");
    if (length < size || size < CRC_SIZE) return;
    snprintf(field + size - CRC_SIZE, CRC_SIZE, " crc %08lx", crc32(0, (const Bytef *)text, (uInt)length));
}

void epoch_knobs(char *field, size_t size, const cnn_record *record)
{
    char *text = record_json(record, "knobs");
    epoch_text(field, size, text ? text : "?");
    free(text);
}

void epoch_setting_of_session(const cnn_session *session, epoch_setting *setting)
{
    char gpu[sizeof((record_pair *)0)->value]; /* as a record has it */
    epoch_text(setting->impl, sizeof setting->impl, session->impl->name);
    setting->threads = session->threads;
    setting->ranks = 1;
    setting->cores = cpu_count();
    cpu_model(setting->cpu, (int)sizeof setting->cpu);
    machine_fact(session, "gpu", gpu, sizeof gpu);
    epoch_text(setting->gpu, sizeof setting->gpu, gpu);
    cnn_record *record = record_new("epoch");
    record_session(record, session, NULL);
    epoch_knobs(setting->knobs, sizeof setting->knobs, record);
    record_free(record);
    cnn_libraries_id(session, setting->libraries);
}

/* What the canonical text leaves to options, where it is not the usual; the weights' beginning likewise. */
static int put_unusual(const cnn_network *network, int layer, char *text, size_t size)
{
    const cnn_problem *p = &network->net.layers[layer].problem;
    const net_init *init = &network->inits[layer];
    const bool conv = p->op == CNN_OP_CONV, bias = conv ? p->u.conv.bias : p->op != CNN_OP_FC || p->u.fc.bias;
    const bool weights = conv || p->op == CNN_OP_FC;
    int used = snprintf(text, size, "%s%s", bias ? "" : " no_bias", conv && p->u.conv.flip ? " flip" : "");
    if (weights && init->kind != NET_INIT_DEFAULT)
        used += snprintf(text + used, size - (size_t)used, " init %d %.17g", (int)init->kind, init->high);
    if (weights && !(init->low >= -init->high && init->low <= -init->high))
        used += snprintf(text + used, size - (size_t)used, " from %.17g", init->low);
    if (weights && init->biases) used += snprintf(text + used, size - (size_t)used, " biases");
    return used;
}

/* A line a layer: operation, canonical descriptor at batch 1, and the values it reads and writes. The seed of dropout's
 * masks comes from the run's, which is a field of its own. */
static uint32_t crc_of_layers(const cnn_network *network)
{
    const cnn_net *net = &network->net;
    uLong crc = crc32(0, NULL, 0);
    for (int i = 0; i < net->n_layers; i++) {
        char text[CNN_PROBLEM_TEXT_MAX], line[2 * CNN_PROBLEM_TEXT_MAX];
        const cnn_layer *layer = &net->layers[i];
        const cnn_problem problem = cnn_net_problem(net, i, 1, false), work = cnn_problem_work(&problem);
        cnn_problem_format(&work, text);
        int used = snprintf(line, sizeof line, "%s %s", cnn_op_name(problem.op), text);
        used += put_unusual(network, i, line + used, sizeof line - (size_t)used);
        for (int k = 0; k < layer->n_inputs; k++)
            used += snprintf(line + used, sizeof line - (size_t)used, " %d", layer->inputs[k]);
        used += snprintf(line + used, sizeof line - (size_t)used, " > %d\n", layer->output);
        crc = crc32(crc, (const Bytef *)line, (uInt)used);
    }
    return (uint32_t)crc;
}

void epoch_setting_of(const cnn_session *session, const cnn_network *network, const dataset *data,
                      const trainer_params *params, epoch_setting *setting)
{
    const cnn_net *net = &network->net;
    char optimizer[CNN_PROBLEM_TEXT_MAX];
    epoch_setting_of_session(session, setting);
    epoch_text(setting->algorithm, sizeof setting->algorithm, params->algorithm);
    setting->graph = trainer_uses_graph(session, params);
    setting->recompute = params->recompute;
    setting->offload = params->offload;
    epoch_text(setting->data_on, sizeof setting->data_on, params->host_data ? "host" : "device");
    cnn_optimizer_format(&params->optimizer, optimizer);
    epoch_text(setting->optimizer, sizeof setting->optimizer, optimizer);
    setting->seed = (int64_t)params->seed;
    setting->shift = params->shift;
    setting->loss_scale = (int64_t)params->loss_scale;
    epoch_text(setting->net, sizeof setting->net, net->name);
    snprintf(setting->net_crc, sizeof setting->net_crc, "%08x", crc_of_layers(network));
    setting->net_params = 0;
    for (int i = 0; i < net->n_params; i++) setting->net_params += net->params[i].count;
    epoch_text(setting->dtype, sizeof setting->dtype, cnn_dtype_name(net->type.dtype));
    epoch_text(setting->layout, sizeof setting->layout, cnn_layout_name(net->type.layout));
    epoch_text(setting->math, sizeof setting->math, cnn_math_name(net->type.math));
    setting->batch = net->batch;
    setting->workers = params->workers;
    setting->ranks = rank_size(params->ranks);
    setting->bucket = trainer_bucket(session, params);
    setting->streams = trainer_streams(session, params);
    setting->fused = trainer_fused(session, network, params);
    static const char *const words[] = {
        [DATASET_MEAN] = "", [DATASET_NONE] = "none", [DATASET_PROPORTIONAL] = "proportional"};
    epoch_text(setting->data, sizeof setting->data, data->name);
    epoch_text(setting->preprocess, sizeof setting->preprocess, words[data->preprocess]);
    setting->train_images = data->train.count;
    setting->test_images = data->test.count;
}
