// Debian's `prometheus`, which scrapes one server.
#pragma once

#include "port.hpp"
#include "support/http_client.hpp"
#include "support/process.hpp"

#include <cctype>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

namespace zklock::test {

/// Listens on loopback, and keeps its data in a directory of its own, which ends with it.
class PrometheusProgram {
 public:
  explicit PrometheusProgram(std::uint16_t scraped) {
    std::string name = std::filesystem::temp_directory_path() / "zklock-prometheus-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"mkdtemp"};
    directory_ = name;
    std::ofstream{directory_ / "prometheus.yml"}
        << "global: {scrape_interval: 200ms, scrape_timeout: 200ms}\n"
        << "scrape_configs: [{job_name: zklock, static_configs: [{targets: ['127.0.0.1:" << scraped << "']}]}]\n";
    process_ = std::make_unique<Process>(
        "prometheus", std::vector<std::string>{"--config.file=" + (directory_ / "prometheus.yml").string(),
                                               "--storage.tsdb.path=" + (directory_ / "data").string(),
                                               "--web.listen-address=127.0.0.1:" + std::to_string(port_.number()),
                                               "--log.level=error"});
  }
  ~PrometheusProgram() {
    process_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  PrometheusProgram(const PrometheusProgram&) = delete;
  PrometheusProgram& operator=(const PrometheusProgram&) = delete;

  [[nodiscard]] Process& process() const noexcept { return *process_; }
  /// The value of the one series that the query gives; empty if it gives none, or Prometheus does not answer.
  [[nodiscard]] std::string query(const std::string& text) const {
    std::string encoded;
    for (const char each : text) {
      std::array<char, 4> digits{};
      std::snprintf(digits.data(), digits.size(), "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(each)));
      encoded += std::isalnum(static_cast<unsigned char>(each)) ? std::string(1, each) : digits.data();
    }
    const std::string body = http_get(port_.number(), "/api/v1/query?query=" + encoded).body;
    const auto value = body.find("\"value\":[");
    const auto begin = body.find(",\"", value);
    if (value == body.npos || begin == body.npos) return {};
    return body.substr(begin + 2, body.find('"', begin + 2) - begin - 2);
  }

 private:
  testing::Port port_;
  std::filesystem::path directory_;
  std::unique_ptr<Process> process_;
};

}  // namespace zklock::test
