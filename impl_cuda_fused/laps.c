/* laps.c: clocks of a pass become seconds of layers: each lap has as large a share of the pass's nanoseconds as of its
 * clocks. */
#include "impl_cuda_fused/fused.h"

typedef struct lap_name {
    int layer;
    const char *phase;
} lap_name;

static const lap_name shared[FUSED_LAP_STAGES] = {
    [FUSED_LAP_IMAGES] = {CNN_LAP_IMAGES, "image, weights"},
    [FUSED_LAP_LEAVE] = {CNN_LAP_UPDATE, "gradients leave"},
    [FUSED_LAP_WAIT] = {CNN_LAP_UPDATE, "wait for blocks"},
    [FUSED_LAP_UPDATE] = {CNN_LAP_UPDATE, "sum, update"},
};

static cnn_trainer_lap lap_of(const fused_net *net, int lap, bool test)
{
    static const struct {
        cnn_dir dir;
        const char *phase;
    } parts[FUSED_LAPS_A_STAGE] = {
        [FUSED_LAP_FORWARD] = {CNN_FWD, "forward"},
        [FUSED_LAP_DATA] = {CNN_BWD_D, "data"},
        [FUSED_LAP_WEIGHTS] = {CNN_BWD_W, "weights"},
        [FUSED_LAP_MEET] = {CNN_FWD, "wait for warps"},
        [FUSED_LAP_MEET_BACK] = {CNN_BWD_W, "wait for warps"}, /* behind both of a layer's gradients */
    };
    const int stage = (lap - FUSED_LAP_STAGES) / FUSED_LAPS_A_STAGE,
              part = (lap - FUSED_LAP_STAGES) % FUSED_LAPS_A_STAGE;
    if (lap == FUSED_LAP_LOSS)
        return (cnn_trainer_lap){.layer = net->loss, .dir = CNN_FWD, .test = test, .phase = "loss"};
    if (lap < FUSED_LAP_STAGES)
        return (cnn_trainer_lap){.layer = shared[lap].layer, .test = test, .phase = shared[lap].phase};
    const cnn_dir dir = parts[part].dir;
    return (cnn_trainer_lap){.layer = net->layers[stage],
                             .dir = dir == CNN_BWD_W && net->stages[stage].op != FUSED_CONV ? CNN_BWD_D : dir,
                             .test = test,
                             .phase = parts[part].phase};
}

int fused_laps_read(const fused_net *net, const unsigned long long numbers[2 * FUSED_LAPS],
                    cnn_trainer_lap list[FUSED_LAPS_MOST])
{
    int count = 0;
    for (int test = 0; test < 2; test++) {
        const unsigned long long *clocks = numbers + test * FUSED_LAPS;
        double all = 0.0;
        for (int lap = 0; lap < FUSED_LAPS_NS; lap++) all += (double)clocks[lap];
        for (int lap = 0; lap < FUSED_LAPS_NS; lap++) {
            if (clocks[lap] == 0) continue;
            list[count] = lap_of(net, lap, test != 0);
            list[count++].seconds = (double)clocks[lap] / all * (double)clocks[FUSED_LAPS_NS] * 1e-9;
        }
    }
    return count;
}
