#include "lock_target.hpp"

#include <utility>

namespace zklock::detail {

namespace {

std::shared_ptr<const Observers<LockObserver>> observers_of(const ClientConfig& config) {
  return Observers<LockObserver>::of(config.observers, config.logger);
}

}  // namespace

LockTarget::LockTarget(const ClientHandle& client, std::string path, LockNaming naming)
    : client_{client},
      path_{std::move(path)},
      naming_{naming},
      observers_{observers_of(client.config())},
      server_path_{observers_ ? client.server_path(path_) : std::string{}},
      is_heard_{observers_ || client.config().logger} {}

}  // namespace zklock::detail
