// A network as Python sees it: several heuristics may use it.
#pragma once

#include <memory>

#include "network/network.h"

namespace hstar {

struct PyNetwork {
  std::shared_ptr<const Network> network;
};

}  // namespace hstar
