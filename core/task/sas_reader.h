// Reader of the translator's output format, version 3. Input may be hostile: every count is checked
// against what is left of the text before anything is allocated, every index against its range.
#pragma once

#include <string_view>

#include "task/task.h"

namespace hstar {

// Throws InputError with the line.
Task read_sas(std::string_view text);

}  // namespace hstar
