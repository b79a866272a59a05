// SPDX-License-Identifier: Apache-2.0
#include "contest.hpp"

#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "read.hpp"

namespace bench {

namespace {

std::vector<index> powers(int first, int last, int step) {
  std::vector<index> sizes;
  for (int e = first; e <= last; e += step) sizes.push_back(index{1} << e);
  return sizes;
}

std::vector<index> sizes_of(const shape& what, mode how, bool quick) {
  if (!what.sizes.empty()) {
    if (!quick || what.sizes.size() == 1) return what.sizes;
    return {what.sizes.front(), what.sizes.back()};
  }
  switch (how) {
    case mode::graph:
      return quick ? powers(12, 28, 4) : powers(10, 30, 2);
    case mode::hot:
      return quick ? powers(12, 20, 4) : powers(10, 22, 2);
    case mode::stream:
      return quick ? powers(12, 24, 4) : powers(10, 26, 2);
    case mode::sync:
      return {1000, 100'000, 1'000'000};
  }
  return {};
}

bool takes_part(const contestant& who, mode how) {
  return static_cast<bool>(how == mode::sync ? who.blocking : who.enqueue);
}

// What is long has less spread.
int iterations(const shape& what, mode how, index n, bool quick) {
  if (how == mode::sync) return 50;
  return what.bytes(n) > index{1} << 28 ? 2 : (quick ? 3 : 5);
}

// Larger inputs would need more memory than they tell.
constexpr index most_bytes = index{8} << 30;

void judge_result(const shape& what, const contestant& who, index n, const void* got, int window) {
  if (!who.has_value) return;
  const std::string error = what.rules->error(got, n, window, who);
  if (!error.empty()) throw std::runtime_error("wrong result: " + error);
}

/// Calls in a row, or one call that returns the value. Every result is judged after every timing.
timed_work work_of(session& gpu, const shape& what, const contestant& who, mode how, index n) {
  const bool many = how != mode::sync;
  const int calls = many ? gpu.launches(what, n) : 1;
  const windows input = gpu.input(what, n, how == mode::graph || how == mode::stream ? calls : 1);
  for (int i = 0; i < input.count; ++i) what.rules->learn(gpu.call(input[i], n, 0), i);
  timed_work work;
  work.how = how;
  work.bytes = what.bytes(n);
  work.calls = calls;
  work.flush = how == mode::graph || how == mode::stream;
  work.before = [&gpu] { gpu.spoil_results(); };
  if (many) {
    work.enqueue = [=, &gpu, &who] {
      for (int i = 0; i < calls; ++i) who.enqueue(gpu.call(input[i], n, i));
    };
    work.after = [=, &gpu, &what, &who] {
      const char* const results = gpu.fetch_results();
      for (int i = 0; i < calls; ++i) {
        judge_result(what, who, n, results + i * session::slot_bytes, i % input.count);
      }
    };
  } else {
    const fold_call call = gpu.host_call(input[0], n);
    work.enqueue = [=, &who] { who.blocking(call); };
    work.after = [=, &what, &who] { judge_result(what, who, n, call.out, 0); };
  }
  return work;
}

measurement of(roster& all, const std::shared_ptr<const shapes>& owner, const shape& what,
               const contestant& who, mode how, index n) {
  measurement m;
  m.shape = what.name;
  m.mode = name_of(how);
  m.who = who.name;
  m.n = n;
  m.iterations = iterations(what, how, n, all.quick());
  m.prepare = [=, &gpu = all.gpu(), &what, &who, keep = owner] {
    return work_of(gpu, what, who, how, n);
  };
  return m;
}

using read_sizes = std::map<memory, std::set<std::pair<mode, index>>>;

/// The modes and bytes of a shape's measurements that pass.
void enter_shape(roster& all, const std::shared_ptr<const shapes>& owner, const shape& what,
                 read_sizes& bytes) {
  for (const mode how : what.modes) {
    for (const index n : sizes_of(what, how, all.quick())) {
      if (what.bytes(n) > most_bytes || !all.gpu().fits(what, n)) continue;
      for (const contestant& who : what.contestants) {
        if (takes_part(who, how) && n <= who.most_items &&
            all.enter(of(all, owner, what, who, how, n))) {
          bytes[what.place].insert({how, what.bytes(n)});
        }
      }
    }
  }
}

}  // namespace

void enter_shapes(roster& all, shapes what) {
  const auto owner = std::make_shared<const shapes>(std::move(what));
  read_sizes bytes;
  for (const shape& s : *owner) enter_shape(all, owner, s, bytes);
  shapes reads;
  for (const memory place : every_memory) reads.push_back(plain_read(place));
  const auto owner_of_reads = std::make_shared<const shapes>(std::move(reads));
  for (const shape& read : *owner_of_reads) {
    for (const auto& [how, size] : bytes[read.place]) {
      for (const contestant& who : read.contestants) {
        if (!takes_part(who, how)) continue;
        all.enter_ceiling(of(all, owner_of_reads, read, who, how, size / read.item_bytes));
      }
    }
  }
}

}  // namespace bench
