/* queue.h: what the emulator puts off. On a device what was submitted to a stream may still be to come: so on a stream
 * that has had nothing but copies, and on one that began with the wait for another stream, each waits until something
 * waits for it, and whoever reads its result, or changes what it reads, before that gets it wrong here. Whatever else
 * is submitted is done at once, behind them.
 *
 * An operation may be several kernels, which share memory of their own, and others may use that between two of them. So
 * at some times, drawn by a fixed rule, only the last of the kernels that were put off is still to come. */
#ifndef HARNESS_CUDA_EMULATED_QUEUE_H
#define HARNESS_CUDA_EMULATED_QUEUE_H

#include <deque>
#include <functional>
#include <memory>

class emulated_queue
{
  public:
    /* Where the stream is now: all that was put off is before it. */
    long long end() const { return done_ + static_cast<long long>(late_.size()); }

    void put_off(std::function<void()> call) { late_.push_back(std::move(call)); }

    void put_off_operation(std::function<void()> call)
    {
        put_off(std::move(call));
        if (one_by_one_) run(end() - 1);
    }

    void run_until(long long place)
    {
        if (done_ >= place || late_.empty()) return;
        run(place);
        draw();
    }

    void run_all() { run_until(end()); }

    /* What takes no time, as an event or the wait for one, is put off with what is before it. */
    void mark(std::function<void()> call)
    {
        if (late_.empty())
            call();
        else
            put_off(std::move(call));
    }

  private:
    void run(long long place)
    {
        while (done_ < place && !late_.empty()) {
            const std::function<void()> call = std::move(late_.front());
            late_.pop_front();
            done_++;
            call();
        }
    }

    void draw()
    {
        drawn_ = drawn_ * 1664525u + 1013904223u;
        one_by_one_ = drawn_ >> 31 != 0;
    }

    std::deque<std::function<void()>> late_;
    long long done_ = 0; /* of them, since the stream was made */
    unsigned drawn_ = 0;
    bool one_by_one_ = false;
};

typedef std::shared_ptr<emulated_queue> emulated_queue_ref; /* graphs hold it, too */

#endif
