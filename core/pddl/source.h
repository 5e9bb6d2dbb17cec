// A PDDL text as nested lists of words, with the place of each in the file.
//
// Invariant: items are in the order of the text; a list is followed by what is in it, and knows where that
// ends. Words are lower case. Nothing here recurses, so that nesting is limited by a message, not the stack.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"

namespace hstar::pddl {

// The PDDL is wrong; `line` and `column` are 1-based, 0 where there is none.
class PddlError : public std::runtime_error {
 public:
  PddlError(const std::string& message, std::string file, long line, long column)
      : std::runtime_error(message), file(std::move(file)), line(line), column(column) {}
  std::string file;
  long line, column;
};

// An item is known by its number.
using Item = uint32_t;

class Source {
 public:
  // Throws PddlError if the text is not exactly one list in parentheses.
  Source(std::string file, std::string_view text);

  const std::string& file() const { return file_; }
  bool is_list(Item item) const { return items_[item].list; }
  std::string_view word(Item item) const {  // "" for a list
    const Entry& entry = items_[item];
    return entry.list ? std::string_view() : std::string_view(text_).substr(entry.at, entry.size);
  }
  bool is(Item item, std::string_view word) const { return !is_list(item) && this->word(item) == word; }
  Item next(Item item) const { return items_[item].list ? items_[item].size : item + 1; }
  Item end(Item list) const { return items_[list].size; }
  std::vector<Item> children(Item list) const;
  std::string_view head(Item item) const;  // the first word of a list, "" where there is none
  std::string shown(Item item) const;      // for messages: short, printable

  [[noreturn]] void fail(Item item, const std::string& message) const;
  [[noreturn]] void unsupported(Item item, const std::string& message) const;

 private:
  struct Entry {
    uint32_t at;    // offset of the first byte
    uint32_t size;  // bytes of a word; of a list the number of the item after its last one
    bool list;
  };
  [[noreturn]] void fail_at(size_t offset, const std::string& message) const;
  void check_text() const;
  void split();
  [[noreturn]] void unclosed(const std::vector<Item>& open);
  std::string where(size_t offset) const;

  std::string file_;
  std::string text_;  // lower case
  std::vector<Entry> items_;
};

}  // namespace hstar::pddl
