// Strongly connected components of a graph (Tarjan, 1972), without recursion.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hstar {

// Components in an order in which every arc between two of them leads to the earlier one.
inline std::vector<std::vector<int32_t>> components(const std::vector<std::vector<int32_t>>& successors) {
  const auto n = static_cast<int32_t>(successors.size());
  std::vector<std::vector<int32_t>> result;
  std::vector<int32_t> number(n, -1), low(n), stack;
  std::vector<bool> on_stack(n, false);
  std::vector<std::pair<int32_t, size_t>> path;  // vertex, next successor
  int32_t next = 0;
  const auto enter = [&](int32_t v) {
    number[v] = low[v] = next++;
    stack.push_back(v);
    on_stack[v] = true;
    path.emplace_back(v, 0);
  };
  for (int32_t root = 0; root < n; ++root) {
    if (number[root] < 0) enter(root);
    while (!path.empty()) {
      auto& [v, i] = path.back();
      if (i < successors[v].size()) {
        const int32_t w = successors[v][i++];
        if (number[w] < 0)
          enter(w);
        else if (on_stack[w])
          low[v] = std::min(low[v], number[w]);
        continue;
      }
      const int32_t done = v;
      path.pop_back();
      if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[done]);
      if (low[done] != number[done]) continue;
      std::vector<int32_t>& component = result.emplace_back();
      int32_t w;
      do {
        w = stack.back();
        stack.pop_back();
        on_stack[w] = false;
        component.push_back(w);
      } while (w != done);
    }
  }
  return result;
}

}  // namespace hstar
