#include "client_core.hpp"

#include <zklock/client.hpp>
#include <zklock/client_id.hpp>
#include <zklock/detail/blocking.hpp>

#include <boost/system/system_error.hpp>

namespace zklock {

using namespace std::chrono_literals;

namespace {

ClientConfig validated(ClientConfig config) {
  if (config.session_timeout < 100ms || config.session_timeout > 24h)
    throw boost::system::system_error{make_error_code(Error::invalid_timeout),
                                      "session_timeout must be 100 ms to 24 h"};
  if (config.connection_timeout < 0ms)
    throw boost::system::system_error{make_error_code(Error::invalid_timeout),
                                      "connection_timeout must not be negative"};
  config.retry.validate();
  if (config.client_id.empty()) config.client_id = make_client_id();
  validate_client_id(config.client_id);
  return config;
}

std::shared_ptr<detail::ClientCore> start(std::shared_ptr<Runtime> runtime, ClientConfig config) {
  auto core = std::make_shared<detail::ClientCore>(std::move(runtime), std::move(config));
  core->start();
  return core;
}

}  // namespace

asio::any_io_executor ClientHandle::get_executor() const { return core_->runtime().serial(); }
asio::any_io_executor ClientHandle::callback_executor() const { return core_->runtime().callback_executor(); }
ConnectionState ClientHandle::state() const noexcept { return core_->state(); }
StateStream ClientHandle::states() const { return StateStream{core_->subscribe()}; }
const std::string& ClientHandle::client_id() const noexcept { return core_->config().client_id; }
const ClientConfig& ClientHandle::config() const noexcept { return core_->config(); }
Session ClientHandle::session() const { return core_->session(); }
bool ClientHandle::blocking_would_deadlock() const noexcept { return core_->runtime().blocking_would_deadlock(); }

bool ClientHandle::wait_connected(std::chrono::milliseconds wait) const {
  if (blocking_would_deadlock())
    throw boost::system::system_error{make_error_code(Error::would_deadlock),
                                      "wait_connected on the client's own thread"};
  const auto outcome =
      detail::block_on<Session>(get_executor(), [&](auto token) { async_session(after(wait), std::move(token)); });
  if (!outcome.error) return true;
  if (outcome.error == Error::connection_loss) return false;
  throw boost::system::system_error{outcome.error, "wait_connected"};
}

Client::Client(ClientConfig config) : ClientHandle{nullptr} {
  config = validated(std::move(config));
  [[maybe_unused]] const auto checked = parse_connect_string(config.connect_string);  // before a thread is started
  core_ = start(std::make_shared<Runtime>(), std::move(config));
}

Client::Client(asio::any_io_executor executor, ClientConfig config) : ClientHandle{nullptr} {
  core_ = start(std::make_shared<Runtime>(std::move(executor)), validated(std::move(config)));
}

Client::~Client() {
  if (core_) close();
}

void Client::close() {
  if (blocking_would_deadlock() || !core_->runtime().has_own_thread()) {
    async_close(asio::bind_executor(get_executor(), [](error_code) {}));
    return;
  }
  detail::block_on(get_executor(), [&](auto token) { async_close(std::move(token)); });
  core_->runtime().flush();
}

}  // namespace zklock
