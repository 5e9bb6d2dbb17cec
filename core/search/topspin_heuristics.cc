#include "search/puzzle_heuristic.h"

namespace hstar {

HSTAR_PUZZLE(TopSpin)

}  // namespace hstar
