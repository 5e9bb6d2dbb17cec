#include "features/colour_rows.h"

#include <algorithm>
#include <limits>

#include "base/control.h"

namespace hstar {

void NeighbourCounts::clear() {
  entries_.assign(kFirstEntries, {});
  seen_.clear();
  used_ = 0;
}

void NeighbourCounts::begin(uint32_t comparison) {
  comparison_ = comparison;
  seen_.clear();
}

void NeighbourCounts::keep() {
  for (const uint32_t at : seen_) entries_[at].count = entries_[at].now;
  seen_.clear();
}

size_t NeighbourCounts::insert(uint32_t owner, Colour colour) {
  if (2 * (used_ + 1) > entries_.size()) make_room();
  const size_t at = place(owner, colour);
  entries_[at].colour = colour;
  entries_[at].owner = owner;
  ++used_;
  return at;
}

void NeighbourCounts::make_room() {
  const auto is_needed = [&](const Entry& entry) { return entry.count || entry.comparison == comparison_; };
  const auto needed = static_cast<size_t>(std::ranges::count_if(entries_, is_needed));
  std::vector<Entry> old(std::max(kFirstEntries, entries_.size()));
  while (old.size() < 4 * (needed + 1)) old.resize(2 * old.size());
  old.swap(entries_);
  seen_.clear();
  used_ = needed;
  for (const Entry& entry : old) {
    if (!is_needed(entry)) continue;
    const size_t at = place(entry.owner, entry.colour);
    entries_[at] = entry;
    if (entry.comparison == comparison_) seen_.push_back(static_cast<uint32_t>(at));
  }
}

ColourRows::ColourRows(ColourRefinement refinement, ColourTable table)
    : refinement_(std::move(refinement)), table_(std::move(table)), relations_(refinement_.relations()) {
  const std::vector<int32_t>& goals = refinement_.goals();
  for (int32_t atom = 0; atom < relations_.atoms(); ++atom) width_ = std::max(width_, arguments(atom).size());
  const size_t first_goal = constants() + static_cast<size_t>(refinement_.variables());
  places_.assign(first_goal + goals.size(), -1);
  goal_place_.assign(relations_.atoms(), -1);
  for (size_t i = 0; i < goals.size(); ++i) goal_place_[goals[i]] = static_cast<int32_t>(first_goal + i);
  std::vector<std::vector<int32_t>> about(objects());
  for (int32_t i = 0; i < constants(); ++i)
    for (const int32_t object : arguments(relations_.constant[i])) about[object].push_back(i);
  constant_places_ = hstar::Rows(about);
}

ColourRows::Rows ColourRows::rows(const Value* values, bool keep) {
  constexpr int32_t kStates = 16, kFirstRest = 16, kMostRest = 2048;
  if (rest_ > 0) {
    --rest_;
    return afresh(values);
  }
  const Rows found = follow(values, keep);
  if (++states_ == kStates) {
    // The work of a comparison takes two and a half times as long, by measurements of small tasks.
    const bool pays = 5 * spent_ <= 2 * kStates * full_work_;
    last_rest_ = pays ? 0 : std::clamp(2 * last_rest_, kFirstRest, kMostRest);
    rest_ = last_rest_;
    states_ = 0;
    spent_ = 0;
  }
  return found;
}

ColourRows::Rows ColourRows::approach(const Value* values) {
  if (rest_ > 0) return {.from_reference = true, .is_reference = false, .added = {}, .removed = {}};
  return follow(values, true);
}

ColourRows::Rows ColourRows::follow(const Value* values, bool keep) {
  constexpr uint64_t kShare = 2;  // of the graph, beyond which a comparison is given up
  work_ = 0;
  const bool is_near = valid_ && compare(values, keep, full_work_ / kShare);
  spent_ += work_;
  if (is_near) {
    if (keep) commit(values);
    return {.from_reference = true, .is_reference = keep, .added = added_, .removed = removed_};
  }
  spent_ += keep ? 2 * full_work_ : full_work_;
  return keep ? rebuild(values) : afresh(values);
}

ColourRows::Rows ColourRows::afresh(const Value* values) {
  added_.clear();
  for (const Colour colour : refinement_.colours(values))
    if (const int32_t row = table_.find(colour); row != -1) added_.push_back(row);
  return {.from_reference = false, .is_reference = false, .added = added_, .removed = {}};
}

ColourRows::Rows ColourRows::rebuild(const Value* values) {
  // 1. Which atom is where.
  valid_ = false;
  const size_t n = nodes(), iterations = refinement_.iterations();
  const auto variables = static_cast<size_t>(refinement_.variables());
  values_.assign(values, values + variables);
  std::ranges::fill(places_, -1);
  std::ranges::copy(relations_.constant, places_.begin());
  for (size_t v = 0; v < variables; ++v)
    places_[constants() + v] = refinement_.atom(static_cast<int32_t>(v), values[v]);
  const size_t holding = constants() + variables;
  for (const int32_t atom : refinement_.goals()) places_[goal_place_[atom]] = atom;
  for (size_t place = 0; place < holding; ++place)
    if (const int32_t atom = places_[place]; atom != -1 && goal_place_[atom] != -1)
      places_[goal_place_[atom]] = -1;
  heads_.assign(objects(), -1);
  links_.resize((places_.size() - constants()) * width_);
  for (size_t place = constants(); place < places_.size(); ++place)
    if (places_[place] != -1) link(static_cast<int32_t>(place), places_[place]);

  // 2. The colours of each iteration, from those before it.
  colours_.resize((iterations + 1) * n);
  sums_.assign(iterations * objects(), 0);
  counts_.clear();
  counts_.begin(1);
  for (int32_t o = 0; o < objects(); ++o) colours_[o] = object_colour(relations_.object_kinds[o]);
  for (size_t place = 0; place < places_.size(); ++place)
    if (const int32_t atom = places_[place]; atom != -1)
      colours_[objects() + place] = first_colour(static_cast<int32_t>(place), atom);
  full_work_ = n;
  for (size_t t = 0; t < iterations; ++t) {
    const Colour *objects_before = &colours_[t * n], *before = objects_before + objects();
    Colour *objects_after = &colours_[(t + 1) * n], *after = objects_after + objects();
    Colour* sums = sums_.data() + t * objects();
    for (size_t place = 0; place < places_.size(); ++place) {
      if (places_[place] == -1) continue;
      uint64_t label = 0;
      Colour sum = 0;
      for (const int32_t object : arguments(places_[place])) {
        const Colour seen = across(label, before[place]);
        sums[object] +=
            refinement_.multiset() ? seen : counts_.add(static_cast<uint32_t>(t * objects() + object), seen);
        sum += across(label++, objects_before[object]);
      }
      after[place] = refined(before[place], t, sum);
      full_work_ += 1 + 2 * label;
    }
    for (int32_t o = 0; o < objects(); ++o) objects_after[o] = refined(objects_before[o], t, sums[o]);
    full_work_ += objects();
    keep_limits(static_cast<uint32_t>(n / kColoursPerMicrosecond));
  }
  counts_.keep();

  // 3. Their rows.
  added_.clear();
  rows_.assign(colours_.size(), -1);
  for (size_t at = 0; at < colours_.size(); ++at) {
    const size_t node = at % n;
    if (node >= static_cast<size_t>(objects()) && places_[node - objects()] == -1) continue;
    rows_[at] = table_.find(colours_[at]);
    if (rows_[at] != -1) added_.push_back(rows_[at]);
  }
  comparison_ = 1;
  reached_.assign(n, 0);
  now_.resize(n);
  atoms_now_.resize(places_.size());
  touched_.clear();
  is_touched_.assign(objects(), 0);
  differences_.assign(objects(), 0);
  valid_ = true;
  return {.from_reference = false, .is_reference = true, .added = added_, .removed = {}};
}

// --- comparing a state with the reference ------------------------------------------------------------------

bool ColourRows::compare(const Value* values, bool keep, uint64_t most_work) {
  valid_ = false;  // what is thrown from here leaves a comparison unfinished
  if (++comparison_ == std::numeric_limits<uint32_t>::max()) return false;
  counts_.begin(comparison_);
  changed_places_.clear();
  changed_objects_.clear();
  added_.clear();
  removed_.clear();
  new_colours_.clear();
  new_sums_.clear();
  compare_variables(values);
  for (const int32_t place : changed_places_) set_row(0, objects() + place, keep);
  size_t objects_before = 0;  // that differed before the iteration at hand
  for (int32_t t = 0; t < refinement_.iterations() && !changed_places_.empty(); ++t) {
    const uint64_t work_before = work_;
    compare_neighbours(t);
    reach_atoms(t, objects_before);
    objects_before = changed_objects_.size();
    recolour_atoms(t, keep);
    recolour_objects(t, keep);
    keep_limits(static_cast<uint32_t>((work_ - work_before) / kColoursPerMicrosecond));
    if (work_ > most_work) break;
  }
  valid_ = true;
  return work_ <= most_work;
}

void ColourRows::compare_variables(const Value* values) {
  const auto is_goal = [&](int32_t atom) { return atom != -1 && goal_place_[atom] != -1; };
  const auto differ = [&](size_t v) {
    const auto place = static_cast<int32_t>(constants() + v);
    const int32_t before = places_[place], after = refinement_.atom(static_cast<int32_t>(v), values[v]);
    if (before == after) return;
    put(place, after);
    if (is_goal(before)) put(goal_place_[before], before);
    if (is_goal(after)) put(goal_place_[after], -1);
  };
  constexpr size_t kBlock = 16;  // compared at once
  const size_t variables = values_.size();
  for (size_t begin = 0; begin < variables; begin += kBlock) {
    const size_t end = std::min(begin + kBlock, variables);
    if (std::equal(values + begin, values + end, values_.begin() + begin)) continue;
    for (size_t v = begin; v < end; ++v)
      if (values[v] != values_[v]) differ(v);
  }
}

void ColourRows::put(int32_t place, int32_t atom) {
  reached_[objects() + place] = comparison_;
  atoms_now_[place] = atom;
  if (atom != -1) now_[objects() + place] = first_colour(place, atom);
  changed_places_.push_back(place);
}

Colour ColourRows::first_colour(int32_t place, int32_t atom) const {
  const bool present = goal_place_[atom] != place;
  return atom_colour(relations_.predicates[atom], goal_status(relations_.goal[atom], present));
}

// What objects see of atoms whose colours differ.
void ColourRows::compare_neighbours(size_t iteration) {
  const Colour* reference = &colours_[iteration * nodes() + objects()];
  const auto touch = [&](int32_t object) -> Colour& {
    if (!is_touched_[object]) {
      is_touched_[object] = 1;
      touched_.push_back(object);
    }
    ++work_;
    return differences_[object];
  };
  const auto owner = [&](int32_t object) { return static_cast<uint32_t>(iteration * objects() + object); };
  for (const int32_t place : changed_places_) {
    if (const int32_t atom = places_[place]; atom != -1) {
      uint64_t label = 0;
      for (const int32_t object : arguments(atom)) {
        const Colour seen = across(label++, reference[place]);
        touch(object) += refinement_.multiset() ? -seen : counts_.remove(owner(object), seen);
      }
    }
    if (const int32_t atom = atoms_now_[place]; atom != -1) {
      uint64_t label = 0;
      for (const int32_t object : arguments(atom)) {
        const Colour seen = across(label++, now_[objects() + place]);
        touch(object) += refinement_.multiset() ? seen : counts_.add(owner(object), seen);
      }
    }
  }
}

// The atoms about objects whose colours differ since the iteration before.
void ColourRows::reach_atoms(size_t iteration, size_t begin) {
  const Colour* reference = &colours_[iteration * nodes() + objects()];
  const auto reach = [&](int32_t place) {
    const size_t node = objects() + static_cast<size_t>(place);
    if (reached_[node] == comparison_) return;
    reached_[node] = comparison_;
    atoms_now_[place] = places_[place];
    now_[node] = reference[place];
    changed_places_.push_back(place);
  };
  for (size_t i = begin; i < changed_objects_.size(); ++i) {
    const int32_t object = changed_objects_[i];
    for (const int32_t place : constant_places_[object]) reach(place);
    for (int32_t at = heads_[object]; at != -1; at = links_[at].next)
      reach(constants() + at / static_cast<int32_t>(width_));
  }
}

void ColourRows::recolour_atoms(size_t iteration, bool keep) {
  const Colour* reference = &colours_[iteration * nodes()];
  for (const int32_t place : changed_places_) {
    const size_t node = objects() + static_cast<size_t>(place);
    if (const int32_t atom = atoms_now_[place]; atom != -1) {
      uint64_t label = 0;
      Colour sum = 0;
      for (const int32_t object : arguments(atom))
        sum += across(label++, reached_[object] == comparison_ ? now_[object] : reference[object]);
      now_[node] = refined(now_[node], iteration, sum);
      work_ += label;
    }
    set_row(iteration + 1, node, keep);
  }
  work_ += changed_places_.size();
}

void ColourRows::recolour_objects(size_t iteration, bool keep) {
  const Colour* reference = &colours_[iteration * nodes()];
  const size_t first_sum = iteration * objects();
  for (const int32_t object : touched_) {
    if (differences_[object] == 0 || reached_[object] == comparison_) continue;
    reached_[object] = comparison_;
    now_[object] = reference[object];
    changed_objects_.push_back(object);
  }
  for (const int32_t object : changed_objects_) {
    const Colour sum = sums_[first_sum + object] + differences_[object];
    if (keep) new_sums_.push_back({first_sum + object, sum});
    now_[object] = refined(now_[object], iteration, sum);
    set_row(iteration + 1, object, keep);
  }
  for (const int32_t object : touched_) {
    differences_[object] = 0;
    is_touched_[object] = 0;
  }
  touched_.clear();
  work_ += changed_objects_.size();
}

// Of the colour that a node has now.
void ColourRows::set_row(size_t iteration, size_t node, bool keep) {
  const size_t at = iteration * nodes() + node;
  const bool is_there = node < static_cast<size_t>(objects()) || atoms_now_[node - objects()] != -1;
  const int32_t before = rows_[at], after = is_there ? table_.find(now_[node]) : -1;
  if (before != after) {
    if (before != -1) removed_.push_back(before);
    if (after != -1) added_.push_back(after);
  }
  if (keep) new_colours_.push_back({at, now_[node], after});
}

void ColourRows::commit(const Value* values) {
  for (const NewColour& made : new_colours_) {
    colours_[made.at] = made.colour;
    rows_[made.at] = made.row;
  }
  for (const NewSum& made : new_sums_) sums_[made.at] = made.sum;
  counts_.keep();
  for (const int32_t place : changed_places_) {
    if (places_[place] == atoms_now_[place]) continue;
    if (places_[place] != -1) unlink(place, places_[place]);
    if (atoms_now_[place] != -1) link(place, atoms_now_[place]);
    places_[place] = atoms_now_[place];
  }
  std::copy_n(values, values_.size(), values_.begin());
}

void ColourRows::link(int32_t place, int32_t atom) {
  int32_t at = (place - constants()) * static_cast<int32_t>(width_);
  for (const int32_t object : arguments(atom)) {
    links_[at] = {heads_[object], -1};
    if (heads_[object] != -1) links_[heads_[object]].previous = at;
    heads_[object] = at++;
  }
}

void ColourRows::unlink(int32_t place, int32_t atom) {
  int32_t at = (place - constants()) * static_cast<int32_t>(width_);
  for (const int32_t object : arguments(atom)) {
    const Link link = links_[at++];
    if (link.next != -1) links_[link.next].previous = link.previous;
    (link.previous != -1 ? links_[link.previous].next : heads_[object]) = link.next;
  }
}

}  // namespace hstar
