/* queue.h: copies that the emulator puts off. On a device a copy that was submitted may still be to come: so on a
 * stream that has had nothing but copies, each waits until something waits for it, and whoever reads its result, or
 * changes what it copies, before that gets it wrong here. Whatever else is submitted is done at once, behind them. */
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

    void run_until(long long place)
    {
        while (done_ < place && !late_.empty()) {
            const std::function<void()> call = std::move(late_.front());
            late_.pop_front();
            done_++;
            call();
        }
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
    std::deque<std::function<void()>> late_;
    long long done_ = 0; /* of them, since the stream was made */
};

typedef std::shared_ptr<emulated_queue> emulated_queue_ref; /* graphs hold it, too */

#endif
