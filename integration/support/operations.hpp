// A Client's operations, waited for.
#pragma once

#include "await.hpp"

#include <zklock/client.hpp>

#include <string>
#include <tuple>
#include <utility>

namespace zklock::test {

inline std::tuple<error_code, CreateResult> create_node(const ClientHandle& client, const std::string& path,
                                                        const std::string& data = {},
                                                        CreateOptions options = CreateMode::persistent) {
  return outcome_of_operation<CreateResult>(
      [&](auto token) { client.async_create(path, data, std::move(options), std::move(token)); });
}

inline error_code create(const ClientHandle& client, const std::string& path, const std::string& data = {},
                         CreateOptions options = CreateMode::persistent, std::string* made = nullptr) {
  const auto [error, created] = create_node(client, path, data, std::move(options));
  if (made) *made = created.path;
  return error;
}

inline error_code remove(const ClientHandle& client, const std::string& path, RemoveOptions options = {}) {
  return std::get<0>(outcome_of_operation([&](auto token) { client.async_remove(path, options, std::move(token)); }));
}

inline std::tuple<error_code, Stat> set_data(const ClientHandle& client, const std::string& path,
                                             const std::string& data, SetDataOptions options = {}) {
  return outcome_of_operation<Stat>([&](auto token) { client.async_set_data(path, data, options, std::move(token)); });
}

inline std::tuple<error_code, DataResult> get_data(const ClientHandle& client, const std::string& path,
                                                   GetDataOptions options = {}) {
  return outcome_of_operation<DataResult>([&](auto token) { client.async_get_data(path, options, std::move(token)); });
}

inline error_code commit(const ClientHandle& client, Transaction transaction) {
  return std::get<0>(outcome_of_operation<TransactionResults>(
      [&](auto token) { client.async_commit(std::move(transaction), std::move(token)); }));
}

}  // namespace zklock::test
