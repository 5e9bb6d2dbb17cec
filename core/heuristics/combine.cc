#include "heuristics/combine.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace hstar {

CombinedHeuristic::CombinedHeuristic(CombineRule rule, std::vector<std::unique_ptr<Heuristic>> parts)
    : rule_(rule), parts_(std::move(parts)) {
  if (parts_.empty()) throw InputError("a combination needs at least one heuristic");
  for (const auto& part : parts_) scale_ = std::max(scale_, part->scale());
  for (const auto& part : parts_)
    if (scale_ % part->scale() != 0)
      throw UnsupportedError("cannot combine '" + name() + "': units of 1/" + std::to_string(scale_) +
                             " and 1/" + std::to_string(part->scale()));
}

std::string CombinedHeuristic::name() const {
  std::string result = rule_ == CombineRule::kMax ? "max(" : "sum(";
  for (size_t i = 0; i < parts_.size(); ++i) result += (i ? ", " : "") + parts_[i]->name();
  return result + ")";
}

bool CombinedHeuristic::all_parts(bool (Heuristic::*claim)() const) const {
  return std::ranges::all_of(parts_, [&](const auto& part) { return (part.get()->*claim)(); });
}
bool CombinedHeuristic::admissible() const {
  return (rule_ == CombineRule::kMax || parts_.size() == 1) && all_parts(&Heuristic::admissible);
}
bool CombinedHeuristic::consistent() const {
  return (rule_ == CombineRule::kMax || parts_.size() == 1) && all_parts(&Heuristic::consistent);
}
bool CombinedHeuristic::safe() const { return all_parts(&Heuristic::safe); }

size_t CombinedHeuristic::grain() const {
  size_t least = parts_[0]->grain();
  for (const auto& part : parts_) least = std::min(least, part->grain());
  return least;
}

void CombinedHeuristic::Merge::add(CombineRule rule, const Heuristic& part, int32_t units, Cost value) {
  if (value == kDeadEnd) {
    doomed |= part.safe();
    return;
  }
  finite = true;
  value = static_cast<Cost>(std::min<int64_t>(int64_t{value} * units, kMaxCost));
  h = rule == CombineRule::kMax ? std::max(h, value) : std::min(h + value, kMaxCost);
}

void CombinedHeuristic::evaluate(StateBatch& batch, size_t begin, size_t end, Cost* h) {
  values_.resize(end);
  merges_.assign(end, {});
  for (const auto& part : parts_) {
    part->evaluate(batch, begin, end, values_.data());
    for (size_t i = begin; i < end; ++i) merges_[i].add(rule_, *part, scale_ / part->scale(), values_[i]);
  }
  for (size_t i = begin; i < end; ++i) h[i] = merges_[i].result();
}

bool CombinedHeuristic::has_preferred_operators() const {
  return std::ranges::any_of(parts_, [](const auto& part) { return part->has_preferred_operators(); });
}

Cost CombinedHeuristic::evaluate_preferred(StateBatch& batch, size_t i, std::vector<int32_t>& preferred) {
  Merge merge;
  values_.resize(i + 1);
  for (const auto& part : parts_) {
    if (part->has_preferred_operators())
      values_[i] = part->evaluate_preferred(batch, i, preferred);
    else
      part->evaluate(batch, i, i + 1, values_.data());
    merge.add(rule_, *part, scale_ / part->scale(), values_[i]);
  }
  return merge.result();
}

bool CombinedHeuristic::path_dependent() const {
  return std::ranges::any_of(parts_, [](const auto& part) { return part->path_dependent(); });
}

void CombinedHeuristic::start_paths(const uint32_t* initial) {
  for (const auto& part : parts_) part->start_paths(initial);
}

void CombinedHeuristic::follow(const PathStep& step) {
  for (const auto& part : parts_) part->follow(step);
}

}  // namespace hstar
