// max and sum of several heuristics. A maximum keeps admissibility and consistency if all its parts have
// them; a sum is claimed to have neither. A state is a dead end if a safe part says so, or all parts do.
#pragma once

#include <memory>
#include <vector>

#include "heuristics/heuristic.h"

namespace hstar {

enum class CombineRule { kMax, kSum };

class CombinedHeuristic : public Heuristic {
 public:
  CombinedHeuristic(CombineRule rule, std::vector<std::unique_ptr<Heuristic>> parts);

  std::string name() const override;
  bool admissible() const override;
  bool consistent() const override;
  bool safe() const override;
  int32_t scale() const override { return scale_; }
  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override;
  size_t grain() const override;
  bool has_preferred_operators() const override;
  Cost evaluate_preferred(StateBatch& batch, size_t i, std::vector<int32_t>& preferred) override;
  bool path_dependent() const override;
  void start_paths(const uint32_t* initial) override;
  void follow(const PathStep& step) override;

 private:
  struct Merge {
    Cost h = 0;
    bool doomed = false;  // a safe part says dead end
    bool finite = false;  // some part gives a number
    // `units`: how many units of the combination make one of the part.
    void add(CombineRule rule, const Heuristic& part, int32_t units, Cost value);
    Cost result() const { return doomed || !finite ? kDeadEnd : h; }
  };
  bool all_parts(bool (Heuristic::*claim)() const) const;

  CombineRule rule_;
  int32_t scale_ = 1;  // the finest of the parts
  std::vector<std::unique_ptr<Heuristic>> parts_;
  std::vector<Cost> values_;   // scratch
  std::vector<Merge> merges_;  // scratch
};

}  // namespace hstar
