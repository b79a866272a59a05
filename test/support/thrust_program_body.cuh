// SPDX-License-Identifier: Apache-2.0
//
// A program that calls thrust's reductions, of namespace `lib`. thrust_program.cuh includes it
// twice: where that is thrust, and where it is thrust_compat. No order can change its results.

/// The results of all calls. Each is given `on` first: a policy, or nothing.
template <class Vector, class... Policy>
std::vector<std::int64_t> program(const Vector& x, const Vector& keys, const Policy&... on) {
  std::vector<std::int64_t> found;
  const auto keep = [&](std::int64_t value) { found.push_back(value); };
  const auto place = [&](auto at) { keep(at - x.begin()); };
  const auto first = x.begin();
  const auto last = x.end();
  keep(lib::reduce(on..., first, last));
  keep(lib::reduce(on..., first, last, 17));
  keep(lib::reduce(on..., first, last, -3, larger{}));
  keep(lib::reduce(on..., first, first, 5));
  keep(lib::transform_reduce(on..., first, last, twice{}, 1, sum{}));
  keep(lib::inner_product(on..., first, last, first, 2));
  place(lib::min_element(on..., first, last));
  place(lib::max_element(on..., first, last));
  place(lib::max_element(on..., first, first));
  const auto both = lib::minmax_element(on..., first, last);
  place(both.first);
  place(both.second);
  keep(lib::count(on..., first, last, 7));
  keep(lib::count_if(on..., first, last, is_even{}));
  keep(lib::all_of(on..., first, last, is_even{}));
  keep(lib::any_of(on..., first, last, is_even{}));
  keep(lib::none_of(on..., first, last, is_even{}));

  Vector run_keys(keys.size());
  Vector values(keys.size());
  const auto keep_runs = [&](const auto& ends) {
    const auto runs = ends.first - run_keys.begin();
    keep(runs);
    keep(ends.second - values.begin());
    for (std::ptrdiff_t i = 0; i < runs; ++i) {
      // Of keys that are not the same thrust writes the last on a GPU, tilefold the first.
      keep(run_keys[static_cast<std::size_t>(i)] / 2);
      keep(values[static_cast<std::size_t>(i)]);
    }
  };
  keep_runs(
      lib::reduce_by_key(on..., keys.begin(), keys.end(), first, run_keys.begin(), values.begin()));
  keep_runs(lib::reduce_by_key(on..., keys.begin(), keys.end(), first, run_keys.begin(),
                               values.begin(), same_half{}));
  keep_runs(lib::reduce_by_key(on..., keys.begin(), keys.end(), first, run_keys.begin(),
                               values.begin(), same_half{}, larger{}));
  return found;
}
