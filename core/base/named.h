// Entries of a list by their names.
#pragma once

#include <functional>
#include <string>

#include "base/errors.h"

namespace hstar {

// The entry with a name. Throws InputError with the known ones; `what`: what they are, as in "search".
template <class List, class NameOf>
const auto& find_named(const std::string& what, const std::string& name, const List& list,
                       const NameOf& name_of) {
  std::string known;
  for (const auto& entry : list) {
    if (name == std::invoke(name_of, entry)) return entry;
    known += (known.empty() ? "" : ", ") + std::string(std::invoke(name_of, entry));
  }
  throw InputError("unknown " + what + " '" + name + "' (known: " + known + ")");
}

}  // namespace hstar
