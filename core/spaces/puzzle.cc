#include "spaces/puzzle.h"

#include "base/errors.h"

namespace hstar {

void check_permutation(const std::vector<int>& numbers, size_t n, const char* what) {
  const std::string range = "0.." + std::to_string(n - 1);
  if (numbers.size() != n)
    throw InputError("expected " + std::to_string(n) + " numbers, " + range + " once each, got " +
                     std::to_string(numbers.size()));
  std::vector<bool> seen(n, false);
  for (const int number : numbers) {
    const std::string name = std::string(what) + " " + std::to_string(number);
    if (number < 0 || static_cast<size_t>(number) >= n) throw InputError(name + " is not in " + range);
    if (seen[static_cast<size_t>(number)])
      throw InputError(name + " appears twice; expected " + range + " once each");
    seen[static_cast<size_t>(number)] = true;
  }
}

}  // namespace hstar
