#include "search/puzzle_heuristic.h"

namespace hstar {

HSTAR_PUZZLE(Blocks)

}  // namespace hstar
