#include "search/puzzle_heuristic.h"

namespace hstar {

HSTAR_PUZZLE(Pancake)

}  // namespace hstar
