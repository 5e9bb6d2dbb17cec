// The translator's output format, version 3, which other planners read and write, too.
//
// Input may be hostile: every count is checked against what is left of the text before anything is allocated,
// every index against its range.
#pragma once

#include <string>
#include <string_view>

#include "task/task.h"

namespace hstar {

// Throws InputError with the line.
Task read_sas(std::string_view text);

// Invariant: read_sas(write_sas(task)) is the task, but for the order of preconditions and mutex groups of
// the text, and costs where there is no metric.
std::string write_sas(const Task& task);

}  // namespace hstar
