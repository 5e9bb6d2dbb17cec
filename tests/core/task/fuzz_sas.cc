// Mutation fuzzer for the .sas reader and for all that is built on what it accepts: space, axioms,
// successors, heuristics, searches. Built with address and undefined-behaviour sanitizers by `make fuzz`.
//
//   fuzz_sas [SECONDS [SEED]]   mutates the texts below and whatever was accepted before (default 30, 1)
//   fuzz_sas FILE               runs one input, for instance a fuzz-failure.sas of an earlier run
//
// Invariant: an input is either refused by InputError or UnsupportedError, or everything on it stays in
// bounds: values in their domains, h in 0..kMaxCost or kDeadEnd, found plans applicable. Anything else
// writes the input to fuzz-failure.sas and ends with exit code 1. Inputs slower than kSlow are reported, one
// that takes kHang is a failure.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "base/random.h"
#include "heuristics/catalogue.h"
#include "heuristics/combine.h"
#include "search/search.h"
#include "task/mutexes.h"
#include "task/planning_space.h"
#include "task/sas.h"

// Both sanitizers end by SIGABRT, which writes the input; memory that grows without bound is a failure too.
extern "C" const char* __asan_default_options() { return "abort_on_error=1:hard_rss_limit_mb=3000"; }
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }

namespace {

using hstar::Cost;
using hstar::PlanningSpace;
using hstar::Random;
using hstar::Task;
using hstar::Value;
using Clock = std::chrono::steady_clock;

constexpr double kSlow = 1;
constexpr unsigned kHang = 30;
constexpr size_t kMaxText = 1 << 14;
constexpr size_t kMaxKept = 1 << 11;  // what is mutated further stays small, so that there are many inputs
constexpr size_t kMaxCorpus = 400;
constexpr uint64_t kReport = 50'000;  // executions between lines
constexpr const char* kFailure = "fuzz-failure.sas";

// Three switches, unit cost; a mutex group across variables.
constexpr const char* kPlain = R"(begin_version
3
end_version
begin_metric
0
end_metric
3
begin_variable
var0
-1
2
Atom on(a)
NegatedAtom on(a)
end_variable
begin_variable
var1
-1
3
Atom at(x)
Atom at(y)
<none of those>
end_variable
begin_variable
var2
-1
5
Atom step(0)
Atom step(1)
Atom step(2)
Atom step(3)
Atom step(4)
end_variable
1
begin_mutex_group
3
0 0
1 0
2 4
end_mutex_group
begin_state
1
0
0
end_state
begin_goal
2
0 0
2 4
end_goal
5
begin_operator
switch a
1
2 3
2
0 0 -1 0
0 2 -1 4
1
end_operator
begin_operator
go x y
0
1
0 1 0 1
1
end_operator
begin_operator
go y x
0
1
0 1 1 2
1
end_operator
begin_operator
up
1
1 1
1
0 2 0 2
1
end_operator
begin_operator
up more
0
2
0 2 2 3
0 1 -1 0
1
end_operator
0
)";

// Two layers of axioms, the second by negation as failure, and one that supports itself.
constexpr const char* kAxioms = R"(begin_version
3
end_version
begin_metric
1
end_metric
5
begin_variable
var0
-1
2
Atom closed(a)
NegatedAtom closed(a)
end_variable
begin_variable
var1
-1
2
Atom closed(b)
NegatedAtom closed(b)
end_variable
begin_variable
var2
0
2
Atom live(a)
NegatedAtom live(a)
end_variable
begin_variable
var3
0
2
Atom live(b)
NegatedAtom live(b)
end_variable
begin_variable
var4
1
2
Atom dark()
NegatedAtom dark()
end_variable
0
begin_state
0
1
1
1
1
end_state
begin_goal
2
2 0
3 0
end_goal
3
begin_operator
close a
0
1
0 0 1 0
2
end_operator
begin_operator
open a
0
1
0 0 0 1
1
end_operator
begin_operator
close b
1
4 0
1
0 1 1 0
3
end_operator
5
begin_rule
1
0 0
2 1 0
end_rule
begin_rule
2
1 0
2 0
3 1 0
end_rule
begin_rule
1
3 0
2 1 0
end_rule
begin_rule
2
2 1
3 1
4 1 0
end_rule
begin_rule
1
0 1
4 1 0
end_rule
)";

// Conditional effects, some on the variable they change.
constexpr const char* kConditional = R"(begin_version
3
end_version
begin_metric
1
end_metric
3
begin_variable
var0
-1
3
Atom at(a)
Atom at(b)
Atom at(c)
end_variable
begin_variable
var1
-1
3
Atom box(a)
Atom box(b)
Atom box(c)
end_variable
begin_variable
var2
-1
2
Atom in(box)
NegatedAtom in(box)
end_variable
0
begin_state
0
0
1
end_state
begin_goal
2
1 2
2 1
end_goal
4
begin_operator
move a b
0
2
0 0 0 1
1 2 0 1 -1 1
1
end_operator
begin_operator
move b c
0
2
0 0 1 2
2 2 0 1 1 1 -1 2
4
end_operator
begin_operator
put
0
1
2 0 0 1 0 2 -1 0
0
end_operator
begin_operator
take
1
0 2
1
1 2 0 2 0 1
1
end_operator
0
)";

// Great costs beside small ones: sums saturate, they do not overflow.
constexpr const char* kCosts = R"(begin_version
3
end_version
begin_metric
1
end_metric
2
begin_variable
var0
-1
4
Atom n(0)
Atom n(1)
Atom n(2)
Atom n(3)
end_variable
begin_variable
var1
-1
3
Atom m(0)
Atom m(1)
Atom m(2)
end_variable
0
begin_state
0
0
end_state
begin_goal
2
0 3
1 2
end_goal
6
begin_operator
n 0 1
0
1
0 0 0 1
536870911
end_operator
begin_operator
n 1 2
0
1
0 0 1 2
536870912
end_operator
begin_operator
n 2 3
1
1 1
1
0 0 2 3
268435456
end_operator
begin_operator
m 0 1
0
1
0 1 0 1
1000000
end_operator
begin_operator
m 1 2
0
2
0 1 1 2
0 0 -1 0
7
end_operator
begin_operator
m back
0
1
0 1 -1 0
0
end_operator
0
)";

// All operators are free.
constexpr const char* kFree = R"(begin_version
3
end_version
begin_metric
1
end_metric
2
begin_variable
var0
-1
2
Atom p()
NegatedAtom p()
end_variable
begin_variable
var1
-1
1
Atom only()
end_variable
0
begin_state
1
0
end_state
begin_goal
1
0 0
end_goal
2
begin_operator
set
1
1 0
1
0 0 1 0
0
end_operator
begin_operator
unset
0
1
0 0 -1 1
0
end_operator
0
)";

std::string current;  // the input that runs, for the reports of crashes

void write_failure() {
  if (FILE* file = std::fopen(kFailure, "w")) {
    std::fwrite(current.data(), 1, current.size(), file);
    std::fclose(file);
    std::fprintf(stderr, "fuzz_sas: the input is in %s\n", kFailure);
  }
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "fuzz_sas: FAILURE: %s\n", what);
  write_failure();
  _exit(1);
}

void require(bool holds, const char* what) {
  if (!holds) fail(what);
}

// What is done with an input that parses.

void check_values(const PlanningSpace& space, const std::vector<Value>& values) {
  for (size_t v = 0; v < values.size(); ++v)
    require(values[v] >= 0 && values[v] < space.task().variables[v].domain_size(), "value out of its domain");
}

void check_h(Cost h) {
  require(h == hstar::kDeadEnd || (h >= 0 && h <= hstar::kMaxCost), "h outside 0..kMaxCost");
}

std::vector<std::unique_ptr<hstar::Heuristic>> heuristics_for(const PlanningSpace& space) {
  std::vector<std::unique_ptr<hstar::Heuristic>> result;
  for (const hstar::HeuristicEntry& entry : hstar::heuristic_catalogue()) {
    try {
      result.push_back(hstar::make_heuristic(entry.info.name, space));
    } catch (const hstar::UnsupportedError&) {
    }
  }
  std::vector<std::unique_ptr<hstar::Heuristic>> parts;
  for (const char* name : {"hmax", "add", "ff"}) parts.push_back(hstar::make_heuristic(name, space));
  result.push_back(hstar::combined_heuristic(hstar::CombineRule::kSum, std::move(parts)));
  return result;
}

void walk(const PlanningSpace& space, std::vector<std::unique_ptr<hstar::Heuristic>>& heuristics,
          Random& random) {
  constexpr int kSteps = 40;
  const std::vector<Value> initial = space.initial_state();
  std::vector<Value> values = initial;
  std::vector<uint32_t> packed(space.words()), next(space.words());
  space.packer().pack(values.data(), packed.data());
  std::vector<int32_t> operators, preferred;
  hstar::StateBatch batch(space);
  for (int step = 0; step < kSteps; ++step) {
    check_values(space, values);
    // Now and then: heuristics take nearly all of the time.
    if (step < 2 || step % 16 == 0) {
      batch.clear();
      batch.push(packed.data());
      for (const auto& heuristic : heuristics) {
        Cost h = -1, again;
        heuristic->evaluate(batch, 0, 1, &h);
        check_h(h);
        heuristic->evaluate(batch, 0, 1, &again);
        require(h == again, "a heuristic gives one state two values");
        if (!heuristic->has_preferred_operators()) continue;
        preferred.clear();
        check_h(heuristic->evaluate_preferred(batch, 0, preferred));
      }
    }
    operators.clear();
    space.applicable(values.data(), operators);
    if (operators.empty()) {
      values = initial;
      space.packer().pack(values.data(), packed.data());
      continue;
    }
    const int32_t op = operators[random.below(static_cast<uint32_t>(operators.size()))];
    for (const hstar::Fact& fact : space.task().operators[op].preconditions)
      require(values[fact.variable] == fact.value, "an operator is generated that is not applicable");
    space.apply(packed.data(), values.data(), op, next.data());
    packed.swap(next);
    space.packer().unpack(packed.data(), values.data());
  }
}

void replay(const PlanningSpace& space, const std::vector<int32_t>& plan) {
  std::vector<Value> values = space.initial_state();
  std::vector<uint32_t> packed(space.words()), next(space.words());
  space.packer().pack(values.data(), packed.data());
  std::vector<int32_t> operators;
  for (const int32_t op : plan) {
    operators.clear();
    space.applicable(values.data(), operators);
    require(std::ranges::find(operators, op) != operators.end(), "a plan takes a step that is not possible");
    space.apply(packed.data(), values.data(), op, next.data());
    packed.swap(next);
    space.packer().unpack(packed.data(), values.data());
  }
  require(space.is_goal(packed.data()), "a plan misses the goal");
}

void search(const PlanningSpace& space, std::vector<std::unique_ptr<hstar::Heuristic>>& heuristics,
            Random& random) {
  hstar::Heuristic* one = heuristics[random.below(static_cast<uint32_t>(heuristics.size()))].get();
  const auto anchor = hstar::make_heuristic("hmax", space);
  std::vector<uint32_t> initial(space.words());
  space.packer().pack(space.initial_state().data(), initial.data());
  const hstar::Limits limits{
      .time_s = 5, .memory_bytes = size_t{2} << 30, .evaluations = 2000, .expansions = 200};
  const auto& searches = hstar::search_catalogue();
  const hstar::SearchEntry& entry = searches[random.below(static_cast<uint32_t>(searches.size()))];
  hstar::SearchOptions options;
  options.weight = 1 + random.below(1000);
  options.bound = 1 + 0.25 * random.below(8);
  options.anytime = random.below(2);
  options.optimistic = random.below(2);
  options.ties = static_cast<hstar::TieBreaking>(random.below(3));
  options.preferred = one->has_preferred_operators() && random.below(2);
  options.boost = static_cast<int32_t>(random.below(1u << 31));
  try {
    const hstar::SearchResult result =
        hstar::run_search(entry.name, {space, initial, {one}, anchor.get(), options}, limits, {}, {});
    if (result.status == hstar::Status::kSolved) replay(space, result.plan);
  } catch (const hstar::UnsupportedError&) {
    // Paths whose costs go beyond kMaxCost.
  }
}

// True if the input was accepted.
bool execute(const std::string& text, Random& random) {
  current = text;
  alarm(kHang);
  const double start = hstar::thread_cpu_s();  // a busy machine is not a slow input
  bool accepted = false;
  try {
    Task task = hstar::read_sas(text);
    accepted = true;
    const hstar::Mutexes mutexes(task);
    if (task.variables.size() >= 2) mutexes.are_mutex({0, 0}, {1, task.variables[1].domain_size() - 1});
    const PlanningSpace space(std::move(task));
    auto heuristics = heuristics_for(space);
    walk(space, heuristics, random);
    search(space, heuristics, random);
  } catch (const hstar::InputError& error) {
    require(*error.what() != 0 && error.line >= 0, "an error without a message");
    require(!accepted || error.line == 0, "a line is blamed after reading");
  } catch (const hstar::UnsupportedError& error) {
    require(*error.what() != 0, "an error without a message");
  } catch (const std::exception& error) {
    fail(error.what());
  }
  alarm(0);
  const double seconds = hstar::thread_cpu_s() - start;
  if (seconds > kSlow) {
    std::fprintf(stderr, "fuzz_sas: slow input, %.1f s, %zu bytes\n", seconds, text.size());
    std::ofstream("fuzz-slow.sas", std::ios::binary) << text;
  }
  return accepted;
}

// Mutations.

using Lines = std::vector<std::string>;

Lines split(const std::string& text) {
  Lines lines;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string join(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

uint32_t index(Random& random, size_t size) { return random.below(static_cast<uint32_t>(size)); }

// A number at random, or one from the borders of what is allowed.
std::string number(Random& random) {
  static const std::vector<std::string> kBorders = {"-1",
                                                    "-2",
                                                    "-2147483648",
                                                    "-2147483649",
                                                    "2147483647",
                                                    "2147483648",
                                                    "4294967295",
                                                    "4294967296",
                                                    "536870911",
                                                    "536870912",
                                                    "536870913",
                                                    "268435456",
                                                    "65535",
                                                    "65536",
                                                    "32768",
                                                    "1073741824",
                                                    "99999999999999999999",
                                                    "007",
                                                    "+1",
                                                    "0x1",
                                                    "1.5",
                                                    "1e9",
                                                    "",
                                                    "-0"};
  if (random.below(4) != 0) return std::to_string(random.below(6));
  if (random.below(3) == 0) return std::to_string(random.below(1u << 31));
  return kBorders[index(random, kBorders.size())];
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void replace_number(std::string& text, Random& random) {
  size_t at = index(random, text.size());
  while (at < text.size() && !is_digit(text[at])) ++at;
  if (at == text.size()) return;
  size_t begin = at, end = at;
  while (begin > 0 && (is_digit(text[begin - 1]) || text[begin - 1] == '-')) --begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  text.replace(begin, end - begin, number(random));
}

void mutate_bytes(std::string& text, Random& random) {
  const uint32_t at = index(random, text.size());
  switch (random.below(4)) {
    case 0:
      text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
      break;
    case 1:
      text[at] = static_cast<char>(random.below(256));
      break;
    case 2:
      text.insert(at, 1, "0 \n-9\0\t\r"[random.below(8)]);
      break;
    default:
      text.erase(at, 1 + random.below(8));
  }
}

void mutate_lines(std::string& text, const std::string& other, Random& random) {
  Lines lines = split(text);
  const uint32_t at = index(random, lines.size());
  const uint32_t to = index(random, lines.size());
  const uint32_t count = std::min<uint32_t>(1 + random.below(8), static_cast<uint32_t>(lines.size()) - at);
  const Lines block(lines.begin() + at, lines.begin() + at + count);
  switch (random.below(4)) {
    case 0:
      lines.erase(lines.begin() + at, lines.begin() + at + count);
      break;
    case 1:
      lines.insert(lines.begin() + to, block.begin(), block.end());
      break;
    case 2:
      std::swap(lines[at], lines[to]);
      break;
    default: {
      const Lines foreign = split(other);
      const uint32_t begin = index(random, foreign.size());
      const uint32_t end = std::min<uint32_t>(begin + 1 + random.below(12), foreign.size());
      lines.insert(lines.begin() + at, foreign.begin() + begin, foreign.begin() + end);
    }
  }
  text = join(lines);
}

// Repeats a whole section and counts it, so that the text stays well-formed.
void grow_section(std::string& text, Random& random) {
  static const std::vector<std::string> kSections = {"operator", "rule", "mutex_group"};
  const std::string& name = kSections[index(random, kSections.size())];
  Lines lines = split(text);
  const auto first = std::ranges::find(lines, "begin_" + name);
  if (first == lines.end() || first == lines.begin()) return;
  const auto last = std::find(first, lines.end(), "end_" + name);
  if (last == lines.end()) return;
  int64_t count = 0;
  std::string& header = *(first - 1);
  std::from_chars(header.data(), header.data() + header.size(), count);
  header = std::to_string(count + 1);
  const Lines block(first, last + 1);
  lines.insert(first, block.begin(), block.end());
  text = join(lines);
}

std::string mutate(const std::vector<std::string>& corpus, Random& random) {
  std::string text = corpus[index(random, corpus.size())];
  const uint32_t rounds = 1 + random.below(random.below(4) == 0 ? 12 : 3);
  for (uint32_t i = 0; i < rounds && !text.empty(); ++i) {
    const uint32_t kind = random.below(16);
    if (kind < 9)
      replace_number(text, random);
    else if (kind < 11)
      mutate_lines(text, corpus[index(random, corpus.size())], random);
    else if (kind < 14)
      grow_section(text, random);
    else if (kind < 15)
      mutate_bytes(text, random);
    else if (random.below(8) == 0)
      text.resize(index(random, text.size()));
  }
  if (text.size() > kMaxText) text.resize(kMaxText);
  return text;
}

void report(uint64_t executions, uint64_t accepted, uint64_t seed) {
  std::printf("fuzz_sas: %llu executions, %llu accepted, no failure (seed %llu)\n",
              static_cast<unsigned long long>(executions), static_cast<unsigned long long>(accepted),
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);
}

int fuzz(double seconds, uint64_t seed) {
  Random random(seed);
  std::vector<std::string> corpus = {kPlain, kAxioms, kConditional, kCosts, kFree};
  const size_t built_in = corpus.size();
  for (size_t i = 0; i < built_in; ++i) {
    if (!execute(corpus[i], random)) fail("a built-in text is refused");
  }
  uint64_t executions = built_in, accepted = built_in;
  const auto start = Clock::now();
  while (std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
    std::string text = mutate(corpus, random);
    if (++executions % kReport == 0) report(executions, accepted, seed);
    if (!execute(text, random)) continue;
    ++accepted;
    if (text.size() > kMaxKept) continue;
    // What was accepted is mutated further; the built-in texts stay.
    if (corpus.size() < kMaxCorpus)
      corpus.push_back(std::move(text));
    else
      corpus[built_in + index(random, kMaxCorpus - built_in)] = std::move(text);
  }
  report(executions, accepted, seed);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGABRT, [](int) { fail("the sanitizers stopped it"); });
  signal(SIGALRM, [](int) { fail("an input hangs"); });
  const std::string_view first = argc > 1 ? argv[1] : "30";
  double seconds = 0;
  const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), seconds);
  if (error == std::errc() && end == first.data() + first.size())
    return fuzz(seconds, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);

  std::ifstream file(argv[1], std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "fuzz_sas: %s: cannot read\n", argv[1]);
    return 2;
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Random random(1);
  std::printf("fuzz_sas: %s: %s\n", argv[1], execute(text, random) ? "accepted" : "refused");
  return 0;
}
