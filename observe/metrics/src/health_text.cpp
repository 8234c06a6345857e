#include <zklock/metrics/server.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

namespace zklock::metrics {
namespace {

/// A number of JSON; null if it is not known.
std::string number(const std::optional<Clock::duration>& time) {
  if (!time) return "null";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.3f", std::chrono::duration<double>(*time).count());
  return text.data();
}

template <class Less>
void keep(std::optional<Clock::duration>& kept, const std::optional<Clock::duration>& value, Less less) {
  if (value && (!kept || less(*value, *kept))) kept = value;
}

/// What is shown of one session, and of the worst of all.
struct Shown {
  std::optional<Clock::duration> last_contact{};
  std::optional<Clock::duration> validity{};
};

Shown show(const SessionHealth& session, Clock::time_point now) {
  Shown shown;
  if (session.last_contact) shown.last_contact = std::max(Clock::duration::zero(), now - *session.last_contact);
  if (session.valid_until) shown.validity = std::max(Clock::duration::zero(), *session.valid_until - now);
  return shown;
}

std::string text_of(const SessionHealth& session, const Shown& shown) {
  std::array<char, 32> id{};
  std::snprintf(id.data(), id.size(), "0x%llx", static_cast<unsigned long long>(session.session_id));
  return R"({"id":")" + std::string{id.data()} + R"(","state":")" + std::string{to_string(session.state)} +
         R"(","timeout_s":)" + number(session.timeout) + R"(,"last_contact_s":)" + number(shown.last_contact) +
         R"(,"validity_s":)" + number(shown.validity) + "}";
}

}  // namespace

bool is_ready(const std::vector<ClientHandle>& clients) {
  return std::ranges::all_of(clients, [](const ClientHandle& client) { return is_connected(client.state()); });
}

std::string health_text(const Metrics& metrics, const std::vector<ClientHandle>& clients) {
  const auto now = Clock::now();
  ConnectionState state = ConnectionState::connected;
  Shown worst;
  std::optional<Clock::duration> io_delay;
  std::string sessions;
  for (const ClientHandle& client : clients) {
    const ClientHealth health = client.health();
    if (is_connected(state)) state = health.state;
    keep(io_delay, health.io_delay, std::greater{});
    for (const SessionHealth& session : health.sessions) {
      const Shown shown = show(session, now);
      keep(worst.last_contact, shown.last_contact, std::greater{});
      keep(worst.validity, shown.validity, std::less{});
      sessions += (sessions.empty() ? "" : ",") + text_of(session, shown);
    }
  }
  const LeaseCounts leases = metrics.leases();
  return R"({"state":")" + std::string{to_string(state)} + R"(","last_contact_s":)" + number(worst.last_contact) +
         R"(,"sessions":[)" + sessions + R"(],"leases":{"held":)" + std::to_string(leases.held) + R"(,"suspect":)" +
         std::to_string(leases.suspect) + R"(},"validity_s":)" + number(worst.validity) + R"(,"cleanups_pending":)" +
         std::to_string(metrics.cleanups_pending()) + R"(,"io_delay_s":)" + number(io_delay) + "}\n";
}

}  // namespace zklock::metrics
