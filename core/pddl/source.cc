#include "pddl/source.h"

#include <algorithm>

namespace hstar::pddl {
namespace {

// Deeper nesting would exhaust the stack of whoever walks a formula; real tasks stay below 30.
constexpr size_t kMaxDepth = 150;
constexpr size_t kMaxText = size_t{1} << 31;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

bool ends_word(char c) { return is_space(c) || c == '(' || c == ')' || c == ';'; }

}  // namespace

Source::Source(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {
  for (char& c : text_)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  check_text();
  split();
}

void Source::check_text() const {
  if (text_.size() >= kMaxText) throw PddlError("the file is larger than 2 GiB", file_, 0, 0);
  if (const size_t zero = text_.find('\0'); zero != std::string::npos) fail_at(zero, "not a text file");
}

void Source::split() {
  std::vector<Item> open;
  size_t at = text_.starts_with("\xef\xbb\xbf") ? 3 : 0;
  while (at < text_.size()) {
    const char c = text_[at];
    if (is_space(c)) {
      ++at;
    } else if (c == ';') {
      while (at < text_.size() && text_[at] != '\n' && text_[at] != '\r') ++at;
    } else if (c == '(') {
      if (open.size() == kMaxDepth) fail_at(at, "parentheses are nested too deeply");
      if (open.empty() && !items_.empty()) fail_at(at, "unexpected '(' after the end");
      open.push_back(static_cast<Item>(items_.size()));
      items_.push_back({static_cast<uint32_t>(at++), 0, true});
    } else if (c == ')') {
      if (open.empty()) fail_at(at, "unexpected ')'");
      items_[open.back()].size = static_cast<uint32_t>(items_.size());
      open.pop_back();
      ++at;
    } else {
      const size_t begin = at;
      // A new word begins at every '?': "?x?y" is two variables.
      do {
        if (static_cast<unsigned char>(text_[at]) >= 0x80 || static_cast<unsigned char>(text_[at]) < 0x20)
          fail_at(at, "not PDDL: a character that is not printable ASCII outside a comment");
        ++at;
      } while (at < text_.size() && !ends_word(text_[at]) && text_[at] != '?');
      if (open.empty()) {
        const std::string word = text_.substr(begin, std::min<size_t>(at - begin, 40));
        fail_at(begin, items_.empty() ? "expected '(define', got '" + word + "'"
                                      : "unexpected '" + word + "' after the end");
      }
      items_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(at - begin), false});
    }
  }
  if (!open.empty()) unclosed(open);
  if (items_.empty()) throw PddlError("the file is empty", file_, 0, 0);
}

// Blames the first section that begins inside another one, since that one misses its ')'.
void Source::unclosed(const std::vector<Item>& open) {
  for (const Item list : open) items_[list].size = static_cast<uint32_t>(items_.size());
  for (const Item section : children(0)) {
    if (!is_list(section)) continue;
    for (const Item item : children(section))
      if (is_list(item) && head(item).starts_with(':'))
        fail(item, "missing ')': '(" + std::string(head(item)) + "' is inside the '(' of " +
                       where(items_[section].at));
  }
  fail(open.back(), "missing ')' for this '('");
}

std::vector<Item> Source::children(Item list) const {
  std::vector<Item> result;
  for (Item item = list + 1; item < end(list); item = next(item)) result.push_back(item);
  return result;
}

std::string_view Source::head(Item item) const {
  return is_list(item) && item + 1 < end(item) ? word(item + 1) : std::string_view();
}

std::string Source::shown(Item item) const {
  std::string text;
  if (!is_list(item)) {
    text = word(item);
  } else {
    constexpr Item kMost = 20;
    text = "(";
    for (Item i = item + 1; i < end(item) && i < item + kMost; ++i) {
      if (is_list(i)) {
        text += "(...) ";
        i = next(i) - 1;
      } else {
        text += std::string(word(i)) + " ";
      }
    }
    if (text.back() == ' ') text.pop_back();
    text += ")";
  }
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

void Source::fail(Item item, const std::string& message) const { fail_at(items_[item].at, message); }

void Source::unsupported(Item item, const std::string& message) const {
  throw UnsupportedError(file_ + ":" + where(items_[item].at) + ": " + message);
}

void Source::fail_at(size_t offset, const std::string& message) const {
  const std::string place = where(offset);
  const size_t colon = place.find(':');
  throw PddlError(message, file_, std::stol(place.substr(0, colon)), std::stol(place.substr(colon + 1)));
}

// Line and column as "4:12". Lines end with \n, \r\n or \r.
std::string Source::where(size_t offset) const {
  long line = 1;
  size_t begin = 0;
  for (size_t i = 0; i < offset; ++i) {
    if (text_[i] == '\n' || (text_[i] == '\r' && (i + 1 == text_.size() || text_[i + 1] != '\n'))) {
      ++line;
      begin = i + 1;
    }
  }
  return std::to_string(line) + ":" + std::to_string(offset - begin + 1);
}

}  // namespace hstar::pddl
