// The ensembles on which a contract holds: the fake one, one server, and three.
#pragma once

#include <zklock/client.hpp>
#include <zklock/session.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace zklock::test {

class World {
 public:
  World() = default;
  World(const World&) = delete;
  virtual ~World() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual Client client() = 0;
  /// The servers end the session, as if its timeout had passed.
  virtual void expire(const Session& session) = 0;
  /// How many are set, those of all clients together.
  [[nodiscard]] virtual std::int64_t watches() const = 0;
};

/// All of them; the tests of a process share them.
[[nodiscard]] const std::vector<std::unique_ptr<World>>& worlds();

}  // namespace zklock::test
