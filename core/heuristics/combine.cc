#include "heuristics/combine.h"

#include <algorithm>

#include "base/errors.h"

namespace hstar {
namespace {

using Parts = std::vector<std::unique_ptr<Heuristic>>;

Claims claims_of(CombineRule rule, const Parts& parts) {
  if (parts.empty()) throw InputError("a combination needs at least one heuristic");
  std::string name = rule == CombineRule::kMax ? "max(" : "sum(";
  for (size_t i = 0; i < parts.size(); ++i) name += (i ? ", " : "") + parts[i]->name();
  const auto all = [&](bool (Heuristic::*claim)() const) {
    return std::ranges::all_of(parts, [&](const auto& part) { return (part.get()->*claim)(); });
  };
  const bool keeps = rule == CombineRule::kMax || parts.size() == 1;
  return {name + ")", keeps && all(&Heuristic::admissible), keeps && all(&Heuristic::consistent),
          all(&Heuristic::safe)};
}

int32_t finest_scale(const Parts& parts) {
  int32_t finest = 1;
  for (const auto& part : parts) finest = std::max(finest, part->scale());
  return finest;
}

class CombinedHeuristic : public Heuristic {
 public:
  CombinedHeuristic(CombineRule rule, Parts parts)
      : Heuristic(claims_of(rule, parts), finest_scale(parts)), rule_(rule), parts_(std::move(parts)) {
    for (const auto& part : parts_)
      if (scale() % part->scale() != 0)
        throw UnsupportedError("cannot combine '" + name() + "': units of 1/" + std::to_string(scale()) +
                               " and 1/" + std::to_string(part->scale()));
  }

  size_t grain() const override {
    size_t least = parts_[0]->grain();
    for (const auto& part : parts_) least = std::min(least, part->grain());
    return least;
  }

  void evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) override {
    values_.resize(end);
    merges_.assign(end - begin, {});
    for (const auto& part : parts_) {
      part->evaluate(batch, begin, end, values_.data());
      for (size_t i = begin; i < end; ++i) add(merges_[i - begin], *part, values_[i]);
    }
    for (size_t i = begin; i < end; ++i) h[i] = merges_[i - begin].result();
  }

  bool has_preferred_operators() const override {
    return std::ranges::any_of(parts_, [](const auto& part) { return part->has_preferred_operators(); });
  }
  Cost evaluate_preferred(StateBatch& batch, size_t i, std::vector<int32_t>& preferred) override {
    Merge merge;
    values_.resize(i + 1);
    for (const auto& part : parts_) {
      if (part->has_preferred_operators())
        values_[i] = part->evaluate_preferred(batch, i, preferred);
      else
        part->evaluate(batch, i, i + 1, values_.data());
      add(merge, *part, values_[i]);
    }
    return merge.result();
  }

  bool path_dependent() const override {
    return std::ranges::any_of(parts_, [](const auto& part) { return part->path_dependent(); });
  }
  void start_paths(const uint32_t* initial) override {
    for (const auto& part : parts_) part->start_paths(initial);
  }
  void follow(const PathStep& step) override {
    for (const auto& part : parts_) part->follow(step);
  }

 private:
  struct Merge {
    Cost h = 0;
    bool doomed = false;  // a safe part says dead end
    bool finite = false;  // some part gives a number
    Cost result() const { return doomed || !finite ? kDeadEnd : h; }
  };
  void add(Merge& merge, const Heuristic& part, Cost value) const {
    if (value == kDeadEnd) {
      merge.doomed |= part.safe();
      return;
    }
    merge.finite = true;
    value = static_cast<Cost>(std::min<int64_t>(int64_t{value} * (scale() / part.scale()), kMaxCost));
    merge.h = rule_ == CombineRule::kMax ? std::max(merge.h, value) : std::min(merge.h + value, kMaxCost);
  }

  CombineRule rule_;
  Parts parts_;
  std::vector<Cost> values_;   // scratch, by the number of the state
  std::vector<Merge> merges_;  // scratch
};

}  // namespace

std::unique_ptr<Heuristic> combined_heuristic(CombineRule rule, Parts parts) {
  return std::make_unique<CombinedHeuristic>(rule, std::move(parts));
}

}  // namespace hstar
