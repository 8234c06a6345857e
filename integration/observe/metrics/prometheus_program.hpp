// Debian's `prometheus`, which scrapes one server.
#pragma once

#include "port.hpp"
#include "support/http_client.hpp"
#include "support/process.hpp"
#include "support/temporary_directory.hpp"

#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

namespace zklock::test {

/// Listens on loopback, and keeps its data in a directory of its own, which ends with it.
class PrometheusProgram {
 public:
  explicit PrometheusProgram(std::uint16_t scraped) {
    std::ofstream{directory_.file("prometheus.yml")}
        << "global: {scrape_interval: 200ms, scrape_timeout: 200ms}\n"
        << "scrape_configs: [{job_name: zklock, static_configs: [{targets: ['127.0.0.1:" << scraped << "']}]}]\n";
    process_ = std::make_unique<Process>(
        "prometheus", std::vector<std::string>{"--config.file=" + directory_.file("prometheus.yml"),
                                               "--storage.tsdb.path=" + directory_.file("data"),
                                               "--web.listen-address=127.0.0.1:" + std::to_string(port_.number()),
                                               "--log.level=error"});
  }
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
  TemporaryDirectory directory_;
  std::unique_ptr<Process> process_;
};

}  // namespace zklock::test
