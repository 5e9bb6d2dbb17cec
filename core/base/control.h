// What may end a search from outside: limits, an interrupt, and the observer that shows progress.
//
// A limit is an outcome, not an error. The search calls `poll` often (it is a counter and, every few
// milliseconds of work, a clock read); `poll` calls the observer about ten times a second. What may take long
// inside one call of a heuristic asks by `keep_limits`, which throws `Stopped` through it to the search.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <new>

namespace hstar {

enum class Status {  // in the order of their names
  kSolved,
  kUnsolvable,  // proved
  kIncomplete,  // all states that were not given up are searched, but giving up some was not safe
  kTimeLimit,
  kMemoryLimit,
  kEvaluationLimit,
  kExpansionLimit,
  kInterrupted,
};

const char* status_name(Status status);

struct Limits {
  double time_s = std::numeric_limits<double>::infinity();
  double cpu_time_s = std::numeric_limits<double>::infinity();  // of the searching thread
  size_t memory_bytes = std::numeric_limits<size_t>::max();
  uint64_t evaluations = std::numeric_limits<uint64_t>::max();
  uint64_t expansions = std::numeric_limits<uint64_t>::max();
};

struct Counts {
  uint64_t expanded = 0;
  uint64_t evaluated = 0;
  uint64_t generated = 0;
  uint64_t reopened = 0;
  uint64_t dead_ends = 0;
  uint64_t anchored = 0;  // evaluations by the anchor of a bounded search
};

// What all searches tell of how they ended.
struct Outcome {
  Status status = Status::kUnsolvable;
  Counts counts;
  double search_time_s = 0;  // wall clock
  double cpu_time_s = 0;     // of the searching threads
};

// The small record that the core hands over at intervals.
struct Progress {
  Counts counts;
  double best_h = 0;  // NaN: nothing evaluated yet
  double time_s = 0;
  size_t memory_bytes = 0;
};

// Returns false to interrupt the search.
using Observer = std::function<bool(const Progress&)>;

double thread_cpu_s();  // processor time of the calling thread
// What the process holds now and held at most, in bytes.
size_t resident_memory();
size_t peak_memory();

// A limit ran out inside an evaluation; the control of the search knows which.
struct Stopped : std::exception {
  const char* what() const noexcept override { return "a limit of the search ran out"; }
};

class Control {
 public:
  // Heuristic values are in units of 1/h_scale.
  Control(const Limits& limits, Observer observer, int32_t h_scale);

  // True if the search has to stop; `status()` then says why. `work` is a rough count of
  // microseconds since the last call: the clock is read only when enough of it has gathered. How much is
  // enough follows from the time that it took, so that a guess far too low does no harm.
  bool poll(const Counts& counts, int32_t best_h, uint32_t work = 1) {
    if (counts.expanded >= limits_.expansions) return stop(Status::kExpansionLimit);
    if (counts.evaluated >= limits_.evaluations) return stop(Status::kEvaluationLimit);
    pending_ += work;
    return pending_ >= budget_ && read_clock(counts, best_h);
  }

  // The same for searches that end by an exception.
  void keep(const Counts& counts, int32_t best_h, uint32_t work = 1) {
    if (poll(counts, best_h, work)) throw Stopped();
  }
  // From inside an evaluation: throws Stopped if the search has to stop.
  void keep(uint32_t work) {
    pending_ += work;
    if (pending_ >= budget_ && read_clock(counts_, best_h_)) throw Stopped();
  }

  // The control that runs on this thread, if there is one.
  static Control* active() { return active_; }

  // Whether a limit is used up before anything happened.
  bool stopped_at_start() { return read_clock({}, 0); }

  // Runs a search that fills its outcome, unless a limit is used up before anything happened. Running out of
  // memory is an outcome, too.
  template <class Search>
  void run(Outcome& outcome, const Search& search) {
    const Active active(this);
    try {
      if (stopped_at_start())
        outcome.status = status_;
      else
        search();
    } catch (const std::bad_alloc&) {
      outcome.status = Status::kMemoryLimit;
    } catch (const Stopped&) {
      outcome.status = status_;
    }
    outcome.search_time_s = elapsed_s();
    outcome.cpu_time_s += cpu_s();
  }

  // Asked before a table doubles: false if that alone would break the memory limit.
  bool allows(size_t extra_bytes) const;
  bool stop(Status status) {
    status_ = status;
    stopped_ = true;
    return true;
  }
  bool stopped() const { return stopped_; }
  Status status() const { return status_; }
  double elapsed_s() const;
  double cpu_s() const;  // of this thread, since the start
  const Limits& limits() const { return limits_; }

 private:
  // Searches within searches have their own control each, the innermost is the active one.
  class Active {
   public:
    explicit Active(Control* control) : outer_(active_) { active_ = control; }
    ~Active() { active_ = outer_; }
    Active(const Active&) = delete;

   private:
    Control* outer_;
  };

  static constexpr uint32_t kMostWorkPerClockRead = 500;
  static constexpr double kClockInterval = 0.005;  // at most, if work takes about as long as before
  static constexpr double kObserverInterval = 0.1;
  static constexpr double kMemoryInterval = 0.01;  // in which a search fills some ten MB

  bool read_clock(const Counts& counts, int32_t best_h);

  static inline constinit thread_local Control* active_ = nullptr;

  Limits limits_;
  Observer observer_;
  int32_t h_scale_;
  std::chrono::steady_clock::time_point start_;
  double cpu_start_s_;
  double next_observation_s_ = 0;
  double next_memory_s_ = 0;
  double last_read_s_ = 0;
  uint32_t pending_ = 0;
  uint32_t budget_ = 1;  // work between two clock reads
  Counts counts_;        // of the last clock read, as the next
  int32_t best_h_ = std::numeric_limits<int32_t>::max();
  Status status_ = Status::kUnsolvable;
  bool stopped_ = false;
};

// For loops inside heuristics and models that may take long for one state; nothing happens outside a search.
// `work` as in Control::poll.
inline void keep_limits(uint32_t work) {
  if (Control* control = Control::active()) control->keep(work);
}

}  // namespace hstar
