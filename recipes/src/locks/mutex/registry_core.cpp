#include "registry_core.hpp"

#include "kept_lock.hpp"

#include <zklock/path.hpp>
#include <zklock/recipes/locks/lock_path.hpp>
#include <zklock/recipes/locks/rendezvous.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace zklock::detail {

namespace {

constexpr std::uint32_t max_weight = 1'000;  // the cost of a choice grows with the weights

[[noreturn]] void refuse(const std::string& why) {
  throw boost::system::system_error{make_error_code(Error::bad_arguments), "a registry " + why};
}

}  // namespace

std::string RegistryCore::path_of(std::string_view name) const {
  if (name.empty() || name.find('/') != std::string_view::npos)
    throw boost::system::system_error{make_error_code(LockError::invalid_lock_path),
                                      zklock::quoted(name) + ": a resource's name is one component of a path"};
  std::string path = join_path(base_, name);
  validate_lock_path(path);
  return path;
}

InterProcessReadWriteLock RegistryCore::lock_of(std::string_view name) const {
  const std::string path = path_of(name);
  if (const KeepSettings keep{settings_}; keep.is_on()) recent_.use({client_, path, settings_}, keep.keep);
  return {client_, path, settings_};
}

void RecentLocks::use(InterProcessReadWriteLock lock, Clock::duration time) {
  std::list<Used> forgotten;  // the end of a lock object is nothing for the mutex
  const std::lock_guard guard{mutex_};
  const auto now = Clock::now();
  const auto place = places_.find(lock.path());
  if (place != places_.end()) {
    all_.splice(all_.begin(), all_, place->second);
    all_.front().until = now + time;
  } else {
    all_.push_front({std::move(lock), now + time});
    places_.emplace(all_.front().lock.path(), all_.begin());
  }
  while (!all_.empty() && (all_.size() > max_number || all_.back().until <= now)) {
    places_.erase(all_.back().lock.path());
    forgotten.splice(forgotten.begin(), all_, std::prev(all_.end()));
  }
}

RegistryEnsembles::RegistryEnsembles(const ClientHandle& client, const std::string& base, LockSettings settings) {
  parts_.push_back({"", 1, std::make_shared<RegistryCore>(client, base, settings)});
}

RegistryEnsembles::RegistryEnsembles(const std::vector<RegistryEnsemble>& ensembles, const std::string& base,
                                     LockSettings settings) {
  if (ensembles.empty()) refuse("without any ensemble");
  for (const RegistryEnsemble& each : ensembles) {
    if (each.name.empty()) refuse("with an ensemble that has no name");
    if (each.weight < 1 || each.weight > max_weight)
      refuse("with a weight of " + std::to_string(each.weight) + "; it may be 1 to " + std::to_string(max_weight));
    if (std::ranges::find(parts_, each.name, &Part::name) != parts_.end())
      refuse("with two ensembles named " + zklock::quoted(each.name));
    parts_.push_back({each.name, each.weight, std::make_shared<RegistryCore>(each.client, base, settings)});
  }
}

const RegistryEnsembles::Part& RegistryEnsembles::part_of(std::string_view name) const {
  if (parts_.size() == 1) return parts_.front();
  std::vector<RendezvousCandidate> candidates;
  candidates.reserve(parts_.size());
  for (const Part& part : parts_) candidates.push_back({part.name, part.weight});
  return parts_[choose_by_rendezvous(candidates, name)];
}

}  // namespace zklock::detail
