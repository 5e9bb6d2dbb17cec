#include "search/puzzle_heuristic.h"

namespace hstar {

HSTAR_PUZZLE(Tiles)

}  // namespace hstar
