#include "bindings/bindings.h"
#include "features/colour_refinement.h"

namespace hstar {
namespace {

RelationalTask of_atoms(std::vector<uint32_t> object_kinds, std::vector<uint32_t> predicates,
                        const std::vector<std::vector<int32_t>>& arguments,
                        const std::vector<uint8_t>& goal) {
  RelationalTask relations{.object_kinds = std::move(object_kinds),
                           .predicates = std::move(predicates),
                           .arguments = Rows(arguments),
                           .goal = {},
                           .constant = {},
                           .atom_of_fact = {}};
  for (const uint8_t mark : goal) {
    check(mark <= static_cast<uint8_t>(GoalMark::kNegativeGoal), "a goal mark is 0, 1 or 2");
    relations.goal.push_back(static_cast<GoalMark>(mark));
  }
  return relations;
}

RelationalTask of_task(const PyTask& task, Names predicates, Names objects,
                       std::vector<uint32_t> object_kinds, std::vector<Names> initial,
                       std::vector<Names> goal, std::vector<Names> negative_goal) {
  check(objects.size() == object_kinds.size(), "an object has no kind");
  const RelationalNames names{std::move(predicates), std::move(objects), std::move(object_kinds),
                              std::move(initial),    std::move(goal),    std::move(negative_goal)};
  nb::gil_scoped_release release;
  return relational_task(task.space->task(), names);
}

using Counts = std::tuple<Column<int64_t>, Column<int32_t>, Column<int32_t>>;

// Features of states as rows of a sparse matrix: where each row ends, and its columns with their counts.
class FeatureRows {
 public:
  FeatureRows(ColourTable& table, bool add) : table_(table), add_(add) {}

  void push(std::span<const Colour> colours) {
    found_.clear();
    for (const Colour colour : colours)
      if (const int32_t at = add_ ? table_.find_or_add(colour) : table_.find(colour); at != -1)
        found_.push_back(at);
    std::ranges::sort(found_);
    for (size_t i = 0; i < found_.size(); ++i) {
      if (i == 0 || found_[i] != found_[i - 1]) {
        columns_.push_back(found_[i]);
        counts_.push_back(0);
      }
      ++counts_.back();
    }
    ends_.push_back(static_cast<int64_t>(columns_.size()));
  }
  Counts take() {
    return {column(std::move(ends_)), column(std::move(columns_)), column(std::move(counts_))};
  }

 private:
  ColourTable& table_;
  bool add_;
  std::vector<int32_t> found_;
  std::vector<int64_t> ends_;
  std::vector<int32_t> columns_, counts_;
};

Counts count(ColourTable& table, const PyTask& task, const RelationalTask& relations, ValueRows states,
             int32_t iterations, bool multiset, bool add) {
  StateBatch batch = checked_batch(*task.space, states);
  FeatureRows rows(table, add);
  unlocked([&](Poll& poll) {
    ColourRefinement refinement(task.space->task(), relations, iterations, multiset);
    for (size_t i = 0; i < batch.size(); ++i) {
      rows.push(refinement.colours(batch.values(i)));
      poll(kWorkOfSlice);
    }
  });
  return rows.take();
}

Counts count_atoms(ColourTable& table, const RelationalTask& relations, Array<int64_t, 1> ends,
                   Array<int32_t, 1> atoms, int32_t iterations, bool multiset, bool add) {
  const std::span<const int32_t> all = view(atoms);
  for (const int32_t atom : all)
    check(atom >= 0 && atom < relations.atoms(), "a state has an atom that there is not");
  FeatureRows rows(table, add);
  unlocked([&](Poll& poll) {
    ColourRefinement refinement(relations, iterations, multiset);
    int64_t begin = 0;
    for (size_t i = 0; i < ends.size(); begin = ends.data()[i++]) {
      const int64_t end = ends.data()[i];
      check(end >= begin && end <= static_cast<int64_t>(all.size()), "the atoms of states are not in order");
      rows.push(refinement.colours(all.subspan(begin, end - begin)));
      poll(kWorkOfSlice);
    }
  });
  return rows.take();
}

}  // namespace

void bind_features(nb::module_& module) {
  nb::class_<RelationalTask>(module, "RelationalTask", "Objects and ground atoms over them.")
      .def_static(
          "of_atoms", &of_atoms, "object_kinds"_a, "predicates"_a, "arguments"_a, "goal"_a,
          "Per atom its predicate, the objects it is about, and 1 if it is a goal, 2 if its absence is one.")
      .def_static("of_task", &of_task, "task"_a, "predicates"_a, "objects"_a, "object_kinds"_a, "initial"_a,
                  "goal"_a, "negative_goal"_a = std::vector<Names>(),
                  "The atoms that facts of the task stand for, those of `initial` beside them, which always "
                  "hold, and those of both goals.")
      .def_prop_ro("objects", &RelationalTask::objects)
      .def_prop_ro("atoms", &RelationalTask::atoms);
  nb::class_<ColourTable>(module, "ColourTable", "Numbers for the colours of colour refinement.")
      .def(nb::init<>())
      .def_static(
          "of", [](Array<Colour, 1> colours) { return ColourTable(view(colours)); }, "colours"_a,
          "Of distinct colours, numbered in their order.")
      .def("__len__", &ColourTable::size)
      .def_prop_ro(
          "colours", [](const ColourTable& self) { return column(std::vector(self.colours())); },
          nb::rv_policy::automatic, "A copy.")
      .def("count", &count, "task"_a, "relations"_a, "states"_a, "iterations"_a, "multiset"_a, "add"_a,
           "Colours of states (n, variables) as a sparse matrix: ends of rows, columns, counts. `add`: new "
           "colours get a number, else they are left out.")
      .def("count_atoms", &count_atoms, "relations"_a, "ends"_a, "atoms"_a, "iterations"_a, "multiset"_a,
           "add"_a, "The same for states given by the atoms that hold: the atoms of state i end at ends[i].");
}

}  // namespace hstar
