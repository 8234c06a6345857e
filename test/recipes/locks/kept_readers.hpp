// A client that keeps the read lock of a read/write lock, and the requests that it sends.
#pragma once

#include "kept_lock.hpp"

#include <zklock/recipes/locks/inter_process_read_write_lock.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace zklock::test {

struct KeptReadersFixture : KeptFixture {
  explicit KeptReadersFixture(testing::FakeEnsembleOptions options = {}) : KeptFixture{options} {
    fault = [this](const testing::FakeCall& call) {
      if (!call.applied) ++calls[{call.session, std::string{call.operation}}];
      return testing::FakeFault::none;
    };
  }

  InterProcessReadWriteLock both(const std::string& client, Keeping keeping = Keeping::silent) {
    return kept<InterProcessReadWriteLock>(client, keeping);
  }
  InterProcessReadWriteLock plain(const std::string& client) {
    return {simulation.client(client, patient_config()), lock_directory};
  }
  /// Of that kind, by that client, since it has begun.
  int sent_by(const std::string& client, std::string_view operation) {
    return calls[{simulation.client(client).session().id(), std::string{operation}}];
  }

  std::map<std::pair<std::int64_t, std::string>, int> calls{};
};

}  // namespace zklock::test
