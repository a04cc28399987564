/* v2.h: an image is a block's; its values and gradients never leave shared memory.
 *
 * Idea: between two layers v1 crosses the whole GPU; here a block takes an image forward and backward alone, with
 * barriers of the block (30 clocks) in between, and adds its gradients up in shared memory. Only at the end of a step
 * do the blocks meet: each writes its sums, each adds up its slice of the parameters over the blocks and updates it,
 * each reads the new parameters: two barriers of the grid a step.
 *
 * N describes a network: stages, places, cuts (stage.h), and n, threads, slots, floats, scratch, image, classes, nhwc,
 * quadratic. All of it is known at compile time, so each row of a convolution is straight code, without the taps that
 * only meet padding. Shared memory: parameters, their gradients, values, scratch of the sums over blocks.
 *
 * Like common.h it needs no other header: NVRTC compiles it for the network at hand. */
#ifndef IMPL_CUDA_FUSED_V2_H
#define IMPL_CUDA_FUSED_V2_H

#ifdef BENCHCNN_CUDA_EMULATED
#define FUSED_INLINE inline
#else
#define FUSED_INLINE __forceinline__
#endif

/* ---- Shared memory */

__device__ FUSED_INLINE int fused_at(const fused_place &p, int c, int h, int w)
{
    return c * p.cs + h * p.hs + (w % p.sw) * p.ps + w / p.sw;
}

/* COUNT neighbours, as many at once as their count allows: they are aligned to it. */
template <int COUNT> __device__ FUSED_INLINE void fused_load(float (&to)[COUNT], const float *from)
{
    if constexpr (COUNT % 4 == 0) {
#pragma unroll
        for (int k = 0; k < COUNT / 4; k++) {
            const float4 v = reinterpret_cast<const float4 *>(from)[k];
            to[4 * k] = v.x;
            to[4 * k + 1] = v.y;
            to[4 * k + 2] = v.z;
            to[4 * k + 3] = v.w;
        }
    } else {
#pragma unroll
        for (int k = 0; k < COUNT; k++) to[k] = from[k];
    }
}

/* Adds up COUNT sums over LANES neighbouring lanes by halves: each lane gives one half away and gets the other, so that
 * in the end it holds sums [base, end) at a[0 ...], fused_left(COUNT, LANES) of them at most. All lanes must come. */
__host__ __device__ constexpr int fused_left(int count, int lanes)
{
    return lanes > 1 ? fused_left((count + 1) / 2, lanes / 2) : count;
}

template <int COUNT, int LANES, int BIT, int SIZE>
__device__ FUSED_INLINE void fused_halve(float (&a)[SIZE], int lane, int &base, int &end)
{
    if constexpr (BIT < LANES) {
        constexpr int HALF = (COUNT + 1) / 2;
        const bool up = (lane & BIT) != 0;
#pragma unroll
        for (int k = 0; k < HALF; k++) {
            const float low = a[k], high = k + HALF < COUNT ? a[k + HALF < COUNT ? k + HALF : 0] : 0.0f;
            a[k] = (up ? high : low) + __shfl_xor_sync(0xffffffffu, up ? low : high, BIT);
        }
        if (up)
            base += HALF;
        else if (base + HALF < end)
            end = base + HALF;
        fused_halve<HALF, LANES, BIT * 2>(a, lane, base, end);
    }
}

/* Which rows of a kernel a row of outputs, or which outputs a row of a kernel, meets: [first, first + count). */
struct fused_span {
    int first, count;
};

/* i with 0 <= start + i*step < size, 0 <= i < most. */
__device__ FUSED_INLINE fused_span fused_inside(int start, int step, int size, int most)
{
    int first = 0, last = most;
    if (start < 0) first = (-start + step - 1) / step;
    if (start + (most - 1) * step >= size) last = (size - start + step - 1) / step;
    return {first, last > first ? last - first : 0};
}

__host__ __device__ constexpr int fused_gcd(int a, int b) { return b == 0 ? a : fused_gcd(b, a % b); }

/* Where image n of the batch has element (c, h, w) of a stage's output, as dropout counts. */
template <class N, int S> __device__ FUSED_INLINE long long fused_drop_index(long long n, int c, int h, int w)
{
    constexpr fused_stage s = N::stages[S];
    const int pixel = h * s.ow + w;
    return n * (s.oc * s.oh * s.ow) + (N::nhwc ? pixel * s.oc + c : c * (s.oh * s.ow) + pixel);
}

/* The image that is at work. */
struct fused_image {
    long long n, step; /* its place in the batch; updates so far */
    bool train;
};

/* ---- Forward */

/* What stands behind an operation: activation and dropout, and the way into shared memory. */
template <class N, int S>
__device__ FUSED_INLINE void fused_put(const fused_pass &p, float *sm, const fused_image &im, int c, int h, int w,
                                       float y)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place out = N::places[S + 1];
    y = fused_act_of(s.act, s.alpha, y);
    if constexpr (s.rate > 0) {
        if (im.train)
            y = fused_keep(p.seeds[S], im.step, fused_drop_index<N, S>(im.n, c, h, w), s.rate) ? y / (float)(1 - s.rate)
                                                                                               : 0.0f;
    }
    sm[out.at + fused_at(out, c, h, w)] = y;
}

template <class N, int S> __device__ FUSED_INLINE void fused_conv(const fused_pass &p, float *sm, const fused_image &im)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S];
    constexpr fused_cut k = N::cuts[S];
    constexpr int groups = s.oc / k.fc, tasks = groups * s.oh, each = N::threads / k.fl;
    const int lane = (int)threadIdx.x % k.fl;
#pragma unroll 1
    for (int first = 0; first < tasks; first += each) {
        const int task = first + (int)threadIdx.x / k.fl, group = task % groups, oh = task / groups;
        float sum[k.fc * s.ow] = {};
        if (task < tasks) {
            const int h0 = oh * s.sh - s.ph;
            const fused_span rows = fused_inside(h0, s.dh, s.ih, s.kh);
#pragma unroll 1
            for (int q = lane; q < s.ic * rows.count; q += k.fl) {
                const int c = q % s.ic, i = rows.first + q / s.ic;
                float x[in.sw * in.ps], w[k.fc * s.kw];
                fused_load(x, sm + in.at + c * in.cs + (h0 + i * s.dh) * in.hs);
                fused_load(w, sm + k.w + c * k.cs + i * k.is + group * (s.kw * k.fc));
#pragma unroll
                for (int j = 0; j < s.kw; j++)
#pragma unroll
                    for (int o = 0; o < s.ow; o++) {
                        const int at = o * s.sw + j * s.dw - s.pw;
                        if (at < 0 || at >= s.iw) continue;
#pragma unroll
                        for (int f = 0; f < k.fc; f++)
                            sum[o * k.fc + f] += w[j * k.fc + f] * x[at % in.sw * in.ps + at / in.sw];
                    }
            }
        }
        int base = 0, end = k.fc * s.ow;
        fused_halve<k.fc * s.ow, k.fl, 1>(sum, lane, base, end);
        if (task >= tasks) continue;
#pragma unroll
        for (int e = 0; e < fused_left(k.fc * s.ow, k.fl); e++) {
            if (base + e >= end) continue;
            const int c = group * k.fc + (base + e) % k.fc;
            fused_put<N, S>(p, sm, im, c, oh, (base + e) / k.fc, k.b >= 0 ? sum[e] + sm[k.b + c] : sum[e]);
        }
    }
}

__device__ FUSED_INLINE bool fused_beats(float v, float max) { return v > max || (v != v && max == max); }

template <class N, int S> __device__ FUSED_INLINE void fused_pool(const fused_pass &p, float *sm, const fused_image &im)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S];
    for (int e = (int)threadIdx.x; e < s.oc * s.oh * s.ow; e += N::threads) {
        const int c = e / (s.oh * s.ow), oh = e / s.ow % s.oh, ow = e % s.ow;
        const int h0 = oh * s.sh - s.ph, w0 = ow * s.sw - s.pw;
        const fused_span rows = fused_inside(h0, s.dh, s.ih, s.kh), cols = fused_inside(w0, s.dw, s.iw, s.kw);
        float y = 0;
        for (int i = 0; i < rows.count; i++)
            for (int j = 0; j < cols.count; j++) {
                const float v = sm[in.at + fused_at(in, c, h0 + (rows.first + i) * s.dh, w0 + (cols.first + j) * s.dw)];
                if (s.op != FUSED_MAX)
                    y += v;
                else if ((i == 0 && j == 0) || fused_beats(v, y))
                    y = v;
            }
        if (s.op != FUSED_MAX) y /= (float)(s.op == FUSED_AVG_PAD ? s.kh * s.kw : rows.count * cols.count);
        fused_put<N, S>(p, sm, im, c, oh, ow, y);
    }
}

template <class N, int S>
__device__ FUSED_INLINE void fused_forward(const fused_pass &p, float *sm, const fused_image &im)
{
    if constexpr (N::stages[S].op == FUSED_CONV)
        fused_conv<N, S>(p, sm, im);
    else
        fused_pool<N, S>(p, sm, im);
    __syncthreads();
    if constexpr (S + 1 < N::n) fused_forward<N, S + 1>(p, sm, im);
}

/* ---- Backward: the gradient of a value takes its place, or stands beside it. */

/* Puts the gradient of element (c, h, w) of value S, through the dropout and the activation of the stage before. */
template <class N, int S>
__device__ FUSED_INLINE void fused_put_back(const fused_pass &p, float *sm, const fused_image &im, int c, int h, int w,
                                            float d)
{
    constexpr fused_stage s = N::stages[S - 1];
    constexpr fused_place in = N::places[S];
    const int at = fused_at(in, c, h, w);
    float y = sm[in.at + at];
    if constexpr (s.rate > 0) {
        constexpr float keep = (float)(1 - s.rate);
        d = fused_keep(p.seeds[S - 1], im.step, fused_drop_index<N, S - 1>(im.n, c, h, w), s.rate) ? d / keep : 0.0f;
        y *= keep;
    }
    sm[in.grad + at] = fused_act_back(s.act, s.alpha, d, y);
}

template <class N, int S>
__device__ FUSED_INLINE void fused_conv_back(const fused_pass &p, float *sm, const fused_image &im)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place out = N::places[S + 1];
    constexpr fused_cut k = N::cuts[S];
    constexpr int groups = s.ic / k.dc, tasks = groups * s.ih, each = N::threads / k.dl;
    constexpr int apart = s.sh / fused_gcd(s.sh, s.dh); /* between two rows of the kernel that meet the same row */
    const int lane = (int)threadIdx.x % k.dl;
#pragma unroll 1
    for (int first = 0; first < tasks; first += each) {
        const int task = first + (int)threadIdx.x / k.dl, group = task % groups, h = task / groups;
        float sum[k.dc * s.iw] = {};
        if (task < tasks) {
            int least = 0, count = 0;
#pragma unroll
            for (int i = s.kh - 1; i >= 0; i--) {
                const int row = h + s.ph - i * s.dh;
                if (row < 0 || row % s.sh != 0 || row / s.sh >= s.oh) continue;
                least = i;
                count++;
            }
#pragma unroll 1
            for (int q = lane; q < s.oc * count; q += k.dl) {
                const int f = q % s.oc, i = least + q / s.oc * apart;
                float dy[out.sw * out.ps], w[k.dc * s.kw];
                fused_load(dy, sm + out.grad + f * out.cs + (h + s.ph - i * s.dh) / s.sh * out.hs);
                const float *from = sm + k.w + group * k.dc * k.cs + i * k.is + f / k.fc * (s.kw * k.fc) + f % k.fc;
#pragma unroll
                for (int c = 0; c < k.dc; c++)
#pragma unroll
                    for (int j = 0; j < s.kw; j++) w[j * k.dc + c] = from[c * k.cs + j * k.fc];
#pragma unroll
                for (int j = 0; j < s.kw; j++)
#pragma unroll
                    for (int o = 0; o < s.ow; o++) {
                        const int at = o * s.sw + j * s.dw - s.pw;
                        if (at < 0 || at >= s.iw) continue;
#pragma unroll
                        for (int c = 0; c < k.dc; c++)
                            sum[at * k.dc + c] += w[j * k.dc + c] * dy[o % out.sw * out.ps + o / out.sw];
                    }
            }
        }
        int base = 0, end = k.dc * s.iw;
        fused_halve<k.dc * s.iw, k.dl, 1>(sum, lane, base, end);
        if (task >= tasks) continue;
#pragma unroll
        for (int e = 0; e < fused_left(k.dc * s.iw, k.dl); e++)
            if (base + e < end)
                fused_put_back<N, S>(p, sm, im, group * k.dc + (base + e) % k.dc, h, (base + e) / k.dc, sum[e]);
    }
}

/* What the window at (oh, ow) gives to the pixel (h, w): for the maximum, all or nothing. */
template <class N, int S>
__device__ FUSED_INLINE float fused_share(const float *sm, int c, int h, int w, int oh, int ow)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S], out = N::places[S + 1];
    const int h0 = oh * s.sh - s.ph, w0 = ow * s.sw - s.pw;
    const fused_span rows = fused_inside(h0, s.dh, s.ih, s.kh), cols = fused_inside(w0, s.dw, s.iw, s.kw);
    const float dy = sm[out.grad + fused_at(out, c, oh, ow)];
    if (s.op != FUSED_MAX) return dy / (float)(s.op == FUSED_AVG_PAD ? s.kh * s.kw : rows.count * cols.count);
    float max = 0;
    bool mine = false;
    for (int i = 0; i < rows.count; i++)
        for (int j = 0; j < cols.count; j++) {
            const int r = h0 + (rows.first + i) * s.dh, q = w0 + (cols.first + j) * s.dw;
            const float v = sm[in.at + fused_at(in, c, r, q)];
            if ((i > 0 || j > 0) && !fused_beats(v, max)) continue;
            max = v;
            mine = r == h && q == w;
        }
    return mine ? dy : 0.0f;
}

template <class N, int S>
__device__ FUSED_INLINE void fused_pool_back(const fused_pass &p, float *sm, const fused_image &im)
{
    constexpr fused_stage s = N::stages[S];
    for (int e = (int)threadIdx.x; e < s.ic * s.ih * s.iw; e += N::threads) {
        const int c = e / (s.ih * s.iw), h = e / s.iw % s.ih, w = e % s.iw;
        float d = 0;
        for (int i = 0; i < s.kh; i++) {
            const int row = h + s.ph - i * s.dh;
            if (row < 0 || row % s.sh != 0 || row / s.sh >= s.oh) continue;
            for (int j = 0; j < s.kw; j++) {
                const int col = w + s.pw - j * s.dw;
                if (col < 0 || col % s.sw != 0 || col / s.sw >= s.ow) continue;
                d += fused_share<N, S>(sm, c, h, w, row / s.sh, col / s.sw);
            }
        }
        fused_put_back<N, S>(p, sm, im, c, h, w, d);
    }
}

/* Adds the image's gradient of the weights to what the block has. */
template <class N, int S> __device__ FUSED_INLINE void fused_weights(float *sm)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S], out = N::places[S + 1];
    constexpr fused_cut k = N::cuts[S];
    constexpr int outs = s.oc / k.wo, tasks = outs * (s.ic / k.wc) * s.kh, each = N::threads / k.wl;
    constexpr int count = k.wo * k.wc * s.kw;
    const int lane = (int)threadIdx.x % k.wl;
#pragma unroll 1
    for (int first = 0; first < tasks; first += each) {
        const int task = first + (int)threadIdx.x / k.wl, f0 = task % outs * k.wo,
                  c0 = task / outs % (s.ic / k.wc) * k.wc, i = task / outs / (s.ic / k.wc);
        float sum[count] = {};
        if (task < tasks) {
            const fused_span rows = fused_inside(i * s.dh - s.ph, s.sh, s.ih, s.oh);
#pragma unroll 1
            for (int q = lane; q < rows.count; q += k.wl) {
                const int oh = rows.first + q;
                float dy[k.wo][out.sw * out.ps];
#pragma unroll
                for (int f = 0; f < k.wo; f++) fused_load(dy[f], sm + out.grad + (f0 + f) * out.cs + oh * out.hs);
#pragma unroll
                for (int c = 0; c < k.wc; c++) {
                    float x[in.sw * in.ps];
                    fused_load(x, sm + in.at + (c0 + c) * in.cs + (oh * s.sh + i * s.dh - s.ph) * in.hs);
#pragma unroll
                    for (int f = 0; f < k.wo; f++)
#pragma unroll
                        for (int j = 0; j < s.kw; j++)
#pragma unroll
                            for (int o = 0; o < s.ow; o++) {
                                const int at = o * s.sw + j * s.dw - s.pw;
                                if (at < 0 || at >= s.iw) continue;
                                sum[(f * k.wc + c) * s.kw + j] +=
                                    dy[f][o % out.sw * out.ps + o / out.sw] * x[at % in.sw * in.ps + at / in.sw];
                            }
                }
            }
        }
        int base = 0, end = count;
        fused_halve<count, k.wl, 1>(sum, lane, base, end);
        if (task >= tasks) continue;
#pragma unroll
        for (int e = 0; e < fused_left(count, k.wl); e++) {
            if (base + e >= end) continue;
            const int j = (base + e) % s.kw, c = c0 + (base + e) / s.kw % k.wc, f = f0 + (base + e) / s.kw / k.wc;
            sm[N::slots + k.w + c * k.cs + i * k.is + f / k.fc * (s.kw * k.fc) + j * k.fc + f % k.fc] += sum[e];
        }
    }
}

/* ... and of the bias: a warp a channel. */
template <class N, int S> __device__ FUSED_INLINE void fused_bias(float *sm)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place out = N::places[S + 1];
    if constexpr (N::cuts[S].b >= 0) {
        for (int f = N::threads / 32 - 1 - (int)threadIdx.x / 32; f < s.oc; f += N::threads / 32) {
            float sum = 0;
            for (int e = (int)threadIdx.x % 32; e < s.oh * s.ow; e += 32)
                sum += sm[out.grad + fused_at(out, f, e / s.ow, e % s.ow)];
            sum = fused_warp_sum(sum);
            if (threadIdx.x % 32 == 0) sm[N::slots + N::cuts[S].b + f] += sum;
        }
    }
}

template <class N, int S>
__device__ FUSED_INLINE void fused_backward(const fused_pass &p, float *sm, const fused_image &im)
{
    constexpr bool conv = N::stages[S].op == FUSED_CONV, in_place = N::places[S].at == N::places[S].grad;
    if constexpr (conv) {
        fused_weights<N, S>(sm);
        fused_bias<N, S>(sm);
    }
    if constexpr (S > 0) {
        if constexpr (conv && in_place) __syncthreads(); /* the value has been read */
        if constexpr (conv)
            fused_conv_back<N, S>(p, sm, im);
        else
            fused_pool_back<N, S>(p, sm, im);
    }
    __syncthreads();
    if constexpr (S > 0) fused_backward<N, S - 1>(p, sm, im);
}

/* ---- Images: the next one is on its way, in registers, while this one is at work; its place in the data set is known
 * one image earlier still. */

/* Which images of a pass are this block's, one after another: image n of the batch that begins at `done`. */
struct fused_turn {
    long long done, n, mb;
};

__device__ FUSED_INLINE fused_turn fused_batch_at(const fused_pass &p, long long done)
{
    const long long left = p.count - done;
    return {done, (long long)blockIdx.x, left < p.batch ? left : p.batch};
}

/* The next image; behind the last one, done >= count. */
__device__ FUSED_INLINE fused_turn fused_next(const fused_pass &p, fused_turn t)
{
    t.n += gridDim.x;
    while (t.n >= t.mb && t.done < p.count) t = fused_batch_at(p, t.done + t.mb);
    return t;
}

__device__ FUSED_INLINE long long fused_row(const fused_pass &p, const fused_turn &t)
{
    if (t.done >= p.count) return 0;
    const long long i = p.first + t.done + t.n;
    return p.order != nullptr ? p.order[i] : i;
}

template <class N> struct fused_feed {
    static constexpr int each = (N::image + N::threads - 1) / N::threads;
    fused_turn turn, after; /* of the image in `pixels`; of the one whose row is known */
    long long row;
    int label;
    float pixels[each];

    __device__ FUSED_INLINE void fetch(const fused_pass &p)
    {
        constexpr fused_stage s = N::stages[0];
        if (turn.done >= p.count) return;
#pragma unroll
        for (int k = 0; k < each; k++) {
            const int e = (int)threadIdx.x + k * N::threads;
            if (e < N::image)
                pixels[k] = fused_pixel(p, p.first + turn.done + turn.n, row, s.ic, s.ih, s.iw, e / (s.ih * s.iw),
                                        e / s.iw % s.ih, e % s.iw);
        }
        label = p.labels[row];
    }
    __device__ FUSED_INLINE void begin(const fused_pass &p)
    {
        turn = fused_batch_at(p, 0);
        if (turn.n >= turn.mb) turn = fused_next(p, turn);
        row = fused_row(p, turn);
        fetch(p);
        after = fused_next(p, turn);
        row = fused_row(p, after);
    }
    /* Into shared memory; then the next ones are asked for. Returns the label. */
    __device__ FUSED_INLINE int take(const fused_pass &p, float *sm)
    {
        constexpr fused_stage s = N::stages[0];
        constexpr fused_place in = N::places[0];
        const int taken = label;
#pragma unroll
        for (int k = 0; k < each; k++) {
            const int e = (int)threadIdx.x + k * N::threads;
            if (e < N::image) sm[in.at + fused_at(in, e / (s.ih * s.iw), e / s.iw % s.ih, e % s.iw)] = pixels[k];
        }
        turn = after;
        fetch(p);
        after = fused_next(p, after);
        row = fused_row(p, after);
        return taken;
    }
};

/* ---- A step's end */

__device__ FUSED_INLINE void fused_copy(float *to, const float *from, int floats, int threads)
{
    for (int k = (int)threadIdx.x; k < floats / 4; k += threads)
        reinterpret_cast<float4 *>(to)[k] = __ldcg(reinterpret_cast<const float4 *>(from) + k);
}

/* Slots [first, first + count) are this block's to update; count is a multiple of 4, and `most` in every other block.
 */
struct fused_slice {
    int first, count, most;
};

template <class N> __device__ FUSED_INLINE fused_slice fused_slice_of()
{
    const int most = (N::slots / 4 + (int)gridDim.x - 1) / (int)gridDim.x * 4, first = (int)blockIdx.x * most;
    return {first, first >= N::slots ? 0 : first + most > N::slots ? N::slots - first : most, most};
}

/* Adds up the slice over the blocks that had an image: some threads take some blocks each, then one sums theirs. */
template <class N>
__device__ FUSED_INLINE void fused_sum_parts(const fused_pass &p, const fused_slice &mine, int blocks, float *red)
{
    const int columns = mine.most / 4, rows = N::threads / columns > 0 ? N::threads / columns : 1;
    for (int item = (int)threadIdx.x; item < columns * rows; item += N::threads) {
        const int column = item % columns, row = item / columns;
        float4 sum = {0, 0, 0, 0};
        if (column * 4 < mine.count) {
            const float *from = p.parts + mine.first + column * 4;
#pragma unroll 9
            for (int b = row; b < blocks; b += rows) {
                const float4 v = __ldcg(reinterpret_cast<const float4 *>(from + (long long)b * N::slots));
                sum.x += v.x;
                sum.y += v.y;
                sum.z += v.z;
                sum.w += v.w;
            }
        }
        reinterpret_cast<float4 *>(red)[row * columns + column] = sum;
    }
    __syncthreads();
}

template <class N>
__device__ FUSED_INLINE void fused_step_end(const fused_pass &p, float *red, const fused_rates &rates, int blocks)
{
    const fused_slice mine = fused_slice_of<N>();
    const int columns = mine.most / 4, rows = N::threads / columns > 0 ? N::threads / columns : 1;
    fused_sum_parts<N>(p, mine, blocks, red);
    for (int k = (int)threadIdx.x; k < mine.count; k += N::threads) {
        const int slot = mine.first + k;
        float grad = 0;
        for (int row = 0; row < rows; row++) grad += red[row * mine.most + k];
        p.grads[slot] = grad;
        if (p.mode == FUSED_TRAIN) fused_update(p.rule.kind, rates, grad, p.w[slot], p.m[slot], p.v[slot]);
    }
}

/* ---- A pass */

template <class N> __device__ FUSED_INLINE void fused_v2_pass(const fused_pass &p, float *sm)
{
    constexpr fused_stage last = N::stages[N::n - 1];
    constexpr fused_place scores = N::places[N::n];
    unsigned goal = 0;
    double loss = 0, power1 = p.power1, power2 = p.power2;
    long long hits = 0, step = p.step;
    fused_feed<N> feed;
    feed.begin(p);
    for (int k = (int)threadIdx.x; k < N::floats; k += N::threads) sm[k] = 0;
    __syncthreads();
    if (p.mode == FUSED_TEST) fused_copy(sm, p.w, N::slots, N::threads);
#pragma unroll 1
    for (long long done = 0; done < p.count; done += p.batch, step++) {
        const long long left = p.count - done, mb = left < p.batch ? left : p.batch;
        const fused_loss_desc judge = {N::classes, N::quadratic, last.act, last.alpha, 1.0f / (float)mb};
        if (p.mode != FUSED_TEST) {
            fused_copy(sm, p.w, N::slots, N::threads);
            for (int k = (int)threadIdx.x; k < N::slots; k += N::threads) sm[N::slots + k] = 0;
        }
#pragma unroll 1
        for (long long n = blockIdx.x; n < mb; n += gridDim.x) {
            const fused_image im = {n, step, p.mode != FUSED_TEST};
            const int label = feed.take(p, sm);
            __syncthreads();
            fused_forward<N, 0>(p, sm, im);
            if (threadIdx.x < 32) {
                const fused_judged judged =
                    fused_loss(judge, sm + scores.at, im.train ? sm + scores.at : nullptr, label, (int)threadIdx.x);
                loss += judged.loss;
                hits += judged.hit;
            }
            __syncthreads();
            if (im.train) fused_backward<N, N::n - 1>(p, sm, im);
        }
        if (p.mode == FUSED_TEST) continue;
        float *part = p.parts + (long long)blockIdx.x * N::slots;
        for (int k = (int)threadIdx.x; k < N::slots / 4 && blockIdx.x < mb; k += N::threads)
            __stcg(reinterpret_cast<float4 *>(part) + k, reinterpret_cast<const float4 *>(sm + N::slots)[k]);
        const fused_rates rates = fused_rates_of(p.rule, step, power1, power2);
        fused_barrier(p.arrived, goal);
        fused_step_end<N>(p, sm + N::floats, rates, (int)(mb < gridDim.x ? mb : gridDim.x));
        power1 *= p.rule.beta1;
        power2 *= p.rule.beta2;
        fused_barrier(p.arrived, goal);
    }
    if (threadIdx.x == 0) {
        p.losses[blockIdx.x] = loss;
        p.hits[blockIdx.x] = hits;
    }
    fused_barrier(p.arrived, goal);
    fused_add_sums(p);
}

#endif
