// Writer of the translator's output format, version 3: what sas_reader reads, and other planners do.
#pragma once

#include <string>

#include "task/task.h"

namespace hstar {

// Invariant: read_sas(write_sas(task)) is the task, but for the order of preconditions and mutex groups of
// the text, and costs where there is no metric.
std::string write_sas(const Task& task);

}  // namespace hstar
