// Mutation fuzzer for the PDDL front end. Built with address and undefined-behaviour sanitizers by `make
// fuzz`.
//
//   fuzz_pddl [SECONDS [SEED]]   mutates the texts below and whatever was accepted before (default 30, 1);
//                                large texts come first, with a few mutations of each
//   fuzz_pddl DOMAIN PROBLEM     runs one input, for instance fuzz-domain.pddl and fuzz-problem.pddl
//
// Invariant: an input is refused by an error of one line (for PDDL errors with a file), ends at a limit, or
// becomes a task that the .sas reader accepts once it is written. Anything else writes the input to
// fuzz-domain.pddl and fuzz-problem.pddl and ends with exit code 1; so does one that takes kHang seconds.
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/random.h"
#include "pddl/translate.h"
#include "task/sas.h"

// Both sanitizers end by SIGABRT, which writes the input; memory that grows without bound is a failure too.
extern "C" const char* __asan_default_options() { return "abort_on_error=1:hard_rss_limit_mb=3000"; }
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }

namespace {

using hstar::Random;
using Clock = std::chrono::steady_clock;

// One PDDL task: domain and problem.
using Texts = std::pair<std::string, std::string>;

constexpr double kTimeLimit = 0.05;  // processor time of one translation
constexpr size_t kMemoryLimit = size_t{1500} << 20;
constexpr unsigned kHang = 30;
constexpr size_t kMaxText = 1 << 14;
constexpr size_t kMaxKept = 1 << 11;  // what is mutated further stays small, so that there are many inputs
constexpr size_t kMaxCorpus = 400;
constexpr int kLargeCopies = 6;       // mutations of a large text, and itself
constexpr uint64_t kReport = 50'000;  // executions between lines

const std::vector<Texts> kBuiltIn = {
    {R"((define (domain ferry) (:requirements :strips :typing :equality :action-costs)
 (:types place car - object boat - car) (:constants dock - place)
 (:predicates (at ?c - car ?p - place) (on ?c - car) (here ?p - place) (empty) (road ?a ?b - place))
 (:functions (total-cost) (dist ?a ?b - place) - number)
 (:action sail :parameters (?a ?b - place) :precondition (and (here ?a) (road ?a ?b) (not (= ?a ?b)))
  :effect (and (here ?b) (not (here ?a)) (increase (total-cost) (dist ?a ?b))))
 (:action board :parameters (?c - (either car boat) ?p - place) :precondition (and (at ?c ?p) (here ?p) (empty))
  :effect (and (on ?c) (not (at ?c ?p)) (not (empty)) (increase (total-cost) 2)))
 (:action leave :parameters (?c - car ?p - place) :precondition (and (on ?c) (here ?p))
  :effect (and (not (on ?c)) (at ?c ?p) (empty)))))",
     R"((define (problem p) (:domain ferry) (:objects a b - place c1 c2 - car)
 (:init (here dock) (empty) (at c1 a) (at c2 b) (road dock a) (road a b) (road b dock)
  (= (dist dock a) 3) (= (dist a b) 1) (= (dist b dock) 0) (= (total-cost) 0))
 (:goal (and (at c1 b) (at c2 dock))) (:metric minimize (total-cost))))"},
    {R"((define (domain briefcase) (:requirements :adl)
 (:types place item) (:constants office - place)
 (:predicates (case-at ?p - place) (at ?i - item ?p - place) (in ?i - item) (open))
 (:action move :parameters (?from ?to - place) :precondition (and (case-at ?from) (not (= ?from ?to)) (not (open)))
  :effect (and (case-at ?to) (not (case-at ?from))
   (forall (?i - item) (when (in ?i) (and (at ?i ?to) (not (at ?i ?from)))))))
 (:action put :parameters (?i - item) :precondition (and (open) (exists (?p - place) (and (at ?i ?p) (case-at ?p))))
  :effect (in ?i))
 (:action unlock :parameters () :precondition (or (case-at office) (forall (?i - item) (not (in ?i)))) :effect (open))
 (:action lock :precondition (open) :effect (and (not (open)) (when (not (case-at office)) (open))))))",
     R"((define (problem p) (:domain briefcase) (:objects home bank - place pen key - item)
 (:init (case-at home) (at pen home) (at key bank))
 (:goal (and (at pen office) (not (open)) (imply (case-at home) (in pen))))))"},
    {R"((define (domain reach) (:requirements :adl :derived-predicates)
 (:predicates (wire ?a ?b) (closed ?a) (lamp ?a) (live ?a) (lit ?a) (dark) (all-lit))
 (:derived (live ?a) (and (closed ?a) (or (lamp ?a) (exists (?b) (and (live ?b) (wire ?a ?b))))))
 (:derived (lit ?a) (and (lamp ?a) (live ?a)))
 (:derived (dark) (forall (?a) (not (lit ?a))))
 (:derived (all-lit) (forall (?a) (imply (lamp ?a) (exists (?b) (and (lit ?b) (wire ?a ?b))))))
 (:action on :parameters (?a) :precondition (not (closed ?a)) :effect (closed ?a))
 (:action off :parameters (?a) :precondition (and (closed ?a) (not (dark))) :effect (not (closed ?a)))))",
     R"((define (problem p) (:domain reach) (:objects n1 n2 n3)
 (:init (lamp n3) (lamp n1) (wire n1 n2) (wire n2 n3) (wire n3 n3) (closed n1))
 (:goal (or (all-lit) (and (dark) (closed n2))))))"},
};

Texts current;  // the input that runs, for the reports of crashes

void write_failure() {
  for (const auto& [name, text] :
       {std::pair("fuzz-domain.pddl", &current.first), std::pair("fuzz-problem.pddl", &current.second)}) {
    if (FILE* file = std::fopen(name, "w")) {
      std::fwrite(text->data(), 1, text->size(), file);
      std::fclose(file);
    }
  }
  std::fprintf(stderr, "fuzz_pddl: the input is in fuzz-domain.pddl and fuzz-problem.pddl\n");
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "fuzz_pddl: FAILURE: %s\n", what);
  write_failure();
  _exit(1);
}

void require(bool holds, const char* what) {
  if (!holds) fail(what);
}

void require_line(const char* message) {
  require(*message != 0, "an error without a message");
  for (const char* c = message; *c; ++c) require(*c >= ' ', "an error of more than one line");
}

// True if the input was accepted.
bool execute(const Texts& texts) {
  current = texts;
  alarm(kHang);
  bool accepted = false;
  hstar::pddl::TranslateOptions options;
  options.limits.cpu_time_s = kTimeLimit;
  options.limits.memory_bytes = kMemoryLimit;
  hstar::pddl::TranslateReport report;
  try {
    const hstar::Task task =
        hstar::pddl::translate({"domain", texts.first}, {"problem", texts.second}, options, report);
    accepted = true;
    const hstar::Task again = hstar::read_sas(hstar::write_sas(task));
    require(again.operators.size() == task.operators.size() && again.axioms.size() == task.axioms.size() &&
                again.variables.size() == task.variables.size() && again.goal == task.goal,
            "the task changes when it is written and read");
  } catch (const hstar::pddl::PddlError& error) {
    require_line(error.what());
    require(!error.file.empty() && error.line >= 0 && error.column >= 0, "an error without a place");
  } catch (const hstar::pddl::LimitError&) {
  } catch (const hstar::InputError& error) {
    require(!accepted, error.what());
    require_line(error.what());
  } catch (const hstar::UnsupportedError& error) {
    require_line(error.what());
  } catch (const std::exception& error) {
    fail(error.what());
  }
  for (const std::string& warning : report.warnings) require_line(warning.c_str());
  alarm(0);
  return accepted;
}

// Mutations.

uint32_t index(Random& random, size_t size) { return random.below(static_cast<uint32_t>(size)); }

// Where the parenthesis at `begin` ends; the end of the text if it is not closed.
size_t closing(const std::string& text, size_t begin) {
  int depth = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (depth == 0) return i + 1;
  }
  return text.size();
}

// A block in parentheses or a word, at random; empty if there is none.
std::pair<size_t, size_t> piece(const std::string& text, Random& random) {
  size_t at = index(random, text.size());
  if (random.below(2)) {
    while (at < text.size() && text[at] != '(') ++at;
    return {at, closing(text, at)};
  }
  const auto in_word = [&](size_t i) {
    return i < text.size() && text[i] > ' ' && text[i] != '(' && text[i] != ')';
  };
  while (at < text.size() && !in_word(at)) ++at;
  size_t end = at;
  while (at > 0 && in_word(at - 1)) --at;
  while (in_word(end)) ++end;
  return {at, end};
}

// What is too large to be mutated all the time.
std::vector<Texts> large_texts() {
  const auto& [domain, problem] = kBuiltIn[0];
  const auto numbered = [](const std::string& prefix, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += prefix + std::to_string(i);
    return text;
  };
  const auto changed = [](std::string text, const std::string& old, const std::string& by) {
    return text.replace(text.find(old), old.size(), by);
  };
  const auto nested = [](const std::string& open, int depth, const std::string& inner) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += open;
    return text + inner + std::string(depth, ')');
  };
  const std::string goal = "(at c1 b)";
  std::vector<Texts> texts = {
      {domain, changed(problem, "c1 c2", "c1 c2" + numbered(" o", 100'000))},
      {changed(domain, "(:constants dock", "(:constants" + numbered(" k", 100'000) + " dock"), problem},
      {std::string(100'000, '('), problem},
      {domain, changed(problem, goal, nested("(and ", 100'000, goal))},
      {changed(domain, "(empty) (road", "(empty) (w" + numbered(" ?x", 50) + ") (road"), problem},
      {changed(domain, "(:types place car - object boat - car)",
               "(:types place - boat car - place boat - car)"),
       problem},
      {changed(domain, "sail", std::string("sa\0il", 5)), problem},
      {changed(domain, "sail", "sa\xff\xc3\x28il"), changed(problem, goal, "(at \xe2\x82 b)")},
  };
  for (const int depth : {100, 150, 151, 1000}) {
    texts.push_back({domain, changed(problem, goal, nested("(not ", depth, goal))});
    texts.push_back({domain, changed(problem, goal, nested("(forall (?x) ", depth, goal))});
    texts.push_back({domain, changed(problem, goal, nested("(or (empty) ", depth, goal))});
  }
  const std::string wide = numbered(" ?x", 50);
  texts.push_back({changed(domain, "(:action sail",
                           "(:action wide :parameters (" + wide +
                               ") :precondition (empty) :effect (empty))\n(:action sail"),
                   problem});
  texts.push_back({changed(changed(domain, "(empty) (road", "(empty) (w" + wide + ") (road"), "(:action sail",
                           "(:action wide :parameters (" + wide + ") :precondition (w" + wide +
                               ") :effect (not (w" + wide + ")))\n(:action sail"),
                   changed(problem, "(empty)", "(empty) (w" + nested(" a", 50, "").substr(0, 100) + ")")});
  return texts;
}

// What sizes and odd characters can do.
std::string strange(Random& random) {
  std::string text;
  const uint32_t many = 1 + random.below(random.below(8) == 0 ? 3000 : 60);
  switch (random.below(9)) {
    case 0:
      return std::string(many, '(');
    case 1:
      for (uint32_t i = 0; i < many; ++i) text += "(and ";
      return text + "(open)" + std::string(many, ')');
    case 2:
      for (uint32_t i = 0; i < many; ++i) text += " o" + std::to_string(i);
      return text + " - place";
    case 3:
      for (uint32_t i = 0; i < many % 60; ++i) text += " ?v" + std::to_string(i);
      return text;
    case 4:
      return "(:types a - b b - c c - a)";
    case 5:
      return std::string("\0x", 2);
    case 6:
      return "\xff\xc3\x28 \xe2\x82";
    case 7:
      for (uint32_t i = 0; i < many % 24; ++i) text += "(or (open) (not (open)))";
      return "(and " + text + ")";
    default:
      return "(forall (?x ?y) (exists (?z) (and (not (= ?x ?z)) (forall (?x) (= ?x ?y)))))";
  }
}

void mutate(std::string& text, const std::string& other, Random& random) {
  const auto [begin, end] = piece(text, random);
  if (begin >= text.size()) return;
  const auto [from, to] = piece(other, random);
  switch (random.below(8)) {
    case 0:
      text.erase(begin, end - begin);
      break;
    case 1:
      text.insert(begin, text.substr(begin, end - begin) + " ");
      break;
    case 2:
    case 3:
      text.replace(begin, end - begin, other.substr(std::min(from, other.size()), to - from));
      break;
    case 4:
      text.insert(end, " " + other.substr(std::min(from, other.size()), to - from));
      break;
    case 5: {
      static const std::vector<std::string> kWords = {
          "and",         "or", "not", "imply",    "forall",  "exists", "when",
          "=",           "?x", "-",   "object",   "either",  "()",     "increase",
          "99999999999", "-1", "1.5", ":derived", ":action", "number", "total-cost"};
      text.replace(begin, end - begin, kWords[index(random, kWords.size())]);
      break;
    }
    case 6:
      text.insert(begin, random.below(4) ? " " : strange(random));
      break;
    default:
      text[index(random, text.size())] = static_cast<char>(random.below(256));
  }
}

void report(uint64_t executions, uint64_t accepted, uint64_t seed) {
  std::printf("fuzz_pddl: %llu executions, %llu accepted, no failure (seed %llu)\n",
              static_cast<unsigned long long>(executions), static_cast<unsigned long long>(accepted),
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);
}

int fuzz(double seconds, uint64_t seed) {
  Random random(seed);
  std::vector<Texts> corpus = kBuiltIn;
  for (const Texts& texts : kBuiltIn)
    if (!execute(texts)) fail("a built-in text is refused");
  uint64_t executions = corpus.size(), accepted = corpus.size();
  const auto start = Clock::now();
  for (const Texts& texts : large_texts()) {
    for (int copy = 0; copy < kLargeCopies; ++copy) {
      Texts mutated = texts;
      if (copy > 0) mutate(copy % 2 ? mutated.first : mutated.second, kBuiltIn[1].first, random);
      accepted += execute(mutated);
      ++executions;
    }
  }
  while (std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
    Texts texts = corpus[index(random, corpus.size())];
    const Texts& other = corpus[index(random, corpus.size())];
    for (uint32_t rounds = 1 + random.below(random.below(4) == 0 ? 8 : 2); rounds > 0; --rounds) {
      const bool domain = random.below(3) != 0;
      std::string& text = domain ? texts.first : texts.second;
      if (!text.empty())
        mutate(text, random.below(8) ? (domain ? other.first : other.second) : other.first, random);
      if (text.size() > kMaxText) text.resize(kMaxText);
    }
    if (++executions % kReport == 0) report(executions, accepted, seed);
    if (!execute(texts)) continue;
    ++accepted;
    if (texts.first.size() + texts.second.size() > kMaxKept) continue;
    // What was accepted is mutated further; the built-in texts stay.
    if (corpus.size() < kMaxCorpus)
      corpus.push_back(std::move(texts));
    else
      corpus[kBuiltIn.size() + index(random, kMaxCorpus - kBuiltIn.size())] = std::move(texts);
  }
  report(executions, accepted, seed);
  return 0;
}

std::string read_file(const char* name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
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
  if (argc != 3) {
    std::fprintf(stderr, "fuzz_pddl: expected DOMAIN PROBLEM\n");
    return 2;
  }
  std::printf("fuzz_pddl: %s\n", execute({read_file(argv[1]), read_file(argv[2])}) ? "accepted" : "refused");
  return 0;
}
