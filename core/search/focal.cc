// focal for planning tasks: `focal_search.h` has the algorithm. Successors are evaluated in batches, the
// anchor is asked for single states.
#include "search/focal.h"

#include <algorithm>

#include "base/errors.h"
#include "search/focal_search.h"
#include "search/successors.h"

namespace hstar {

const SearchInfo focal_info = {
    .name = "focal",
    .description = "a plan within a proven bound of the optimum, an admissible anchor beside the guide",
    .reference = "Pearl and Kim, IEEE PAMI 1982",
    .optimal = true,
    .complete = true,
};

namespace {

class TaskDomain {
 public:
  explicit TaskDomain(const SearchContext& context)
      : space_(context.space),
        guide_(*context.heuristics[0]),
        anchor_(context.anchor),
        successors_(space_),
        batch_(space_),
        asked_(space_) {
    if (context.heuristics.size() > 1)
      throw InputError("focal takes one heuristic; combine several by max or sum");
    if (anchor_ && !anchor_->admissible())
      throw InputError("the anchor must be admissible, and " + anchor_->name() + " is not");
  }

  size_t words() const { return space_.words(); }
  // Without any anchor the costs of paths have to do.
  int32_t scale() const {
    if (anchor_) return anchor_->scale();
    return guide_is_anchor() ? guide_.scale() : 1;
  }
  int32_t guide_scale() const { return guide_.scale(); }
  // A guide that is admissible itself needs no other anchor.
  bool guide_is_anchor() const { return !anchor_ && guide_.admissible(); }
  bool anchor_at_once() const { return !anchor_; }
  bool trusts_guide() const { return guide_.safe() || guide_is_anchor(); }
  bool is_goal(const uint32_t* packed) const { return space_.is_goal(packed); }

  void expand(const uint32_t* packed, const StateRegistry& registry) {
    successors_.generate(packed, registry);
  }
  size_t size() const { return successors_.size(); }
  int32_t op(size_t i) const { return successors_.op(i); }
  Cost cost(size_t i) const { return space_.cost(successors_.op(i)); }
  const uint32_t* state(size_t i) const { return successors_.state(i); }
  uint64_t hash(size_t i) const { return successors_.hash(i); }

  void evaluate_root(const uint32_t* packed, Cost* guide, Cost* anchor) {
    batch_.clear();
    batch_.push(packed);
    guide_.evaluate(batch_, 0, 1, guide);
    *anchor = guide_is_anchor() ? *guide : 0;
  }
  template <class Stop>
  bool evaluate(std::span<const uint32_t> chosen, Cost* guide, Cost* anchor, const Stop& stop) {
    batch_.clear();
    batch_.set_parent(successors_.parent().values());
    for (const uint32_t i : chosen) batch_.push(successors_.state(i));
    const size_t n = chosen.size(), grain = guide_.grain();
    for (size_t begin = 0; begin < n; begin += grain) {
      guide_.evaluate(batch_, begin, std::min(begin + grain, n), guide);
      if (grain < kManyStates && stop()) return false;
    }
    if (guide_is_anchor())
      std::copy_n(guide, n, anchor);
    else
      std::fill_n(anchor, n, 0);
    return true;
  }
  Cost ask_anchor(const uint32_t* packed) {
    Cost h;
    asked_.clear();
    asked_.push(packed);
    anchor_->evaluate(asked_, 0, 1, &h);
    return h;
  }

 private:
  static constexpr size_t kManyStates = 64;  // a heuristic with this grain is quick

  const PlanningSpace& space_;
  Heuristic& guide_;
  Heuristic* const anchor_;
  Successors successors_;  // of the state being expanded
  StateBatch batch_;       // those that are evaluated
  StateBatch asked_;       // the state that the anchor is asked about
};

}  // namespace

SearchResult run_focal(const SearchContext& context) {
  TaskDomain domain(context);
  std::vector<uint32_t> packed(context.space.words());
  context.space.packer().pack(context.initial.data(), packed.data());
  return FocalSearch(domain, context.options, context.control, context.on_plan).run(packed);
}

}  // namespace hstar
