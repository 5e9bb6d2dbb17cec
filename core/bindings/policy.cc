#include "bindings/bindings.h"
#include "policy/goal_rules.h"

namespace hstar {

void bind_policy(nb::module_& module) {
  bind_struct<RuleSchema>(module, "RuleSchema", "An action schema: atoms are lists of numbers.", "candidates",
                          &RuleSchema::candidates, "positive", &RuleSchema::positive, "negative",
                          &RuleSchema::negative, "adds", &RuleSchema::adds, "deletes", &RuleSchema::deletes,
                          "different", &RuleSchema::different);
  bind_struct<RuleMovement>(module, "RuleMovement", "Schemas that change one argument of one atom.",
                            "predicate", &RuleMovement::predicate, "place", &RuleMovement::place, "schemas",
                            &RuleMovement::schemas, "guard", &RuleMovement::guard, "swaps",
                            &RuleMovement::swaps);
  bind_struct<RuleTask>(module, "RuleTask", "A lifted task for goal rules.", "objects", &RuleTask::objects,
                        "arities", &RuleTask::arities, "schemas", &RuleTask::schemas, "movements",
                        &RuleTask::movements, "init", &RuleTask::init, "goals", &RuleTask::goals);
  bind_struct<GoalRule>(module, "GoalRule", "A lifted macro that achieves a goal.", "goal", &GoalRule::goal,
                        "conditions", &GoalRule::conditions, "steps", &GoalRule::steps, "variables",
                        &GoalRule::variables, "rank", &GoalRule::rank);
  bind_outcome<PolicyResult>(module, "PolicyResult", "How following goal rules ended.")
      .def_ro("plan", &PolicyResult::plan, "A list for each action: schema, arguments.")
      .def_ro("open_goals", &PolicyResult::open_goals);
  module.def(
      "follow_goal_rules",
      [](const RuleTask& task, const std::vector<GoalRule>& rules, const std::vector<GoalOrder>& orders,
         const Limits& limits, bool mixed, nb::object progress) {
        task.check();
        return observed(std::move(progress), [&](const Observer& observer) {
          return follow_goal_rules(task, rules, orders, mixed, limits, observer);
        });
      },
      "task"_a, "rules"_a, "orders"_a, "limits"_a, "mixed"_a, "progress"_a = nb::none(),
      "Follows goal rules from the initial state; 'incomplete' if no rule leads on.");
}

}  // namespace hstar
