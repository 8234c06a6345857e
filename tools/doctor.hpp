// zklock doctor
#pragma once

#include "findings.hpp"
#include "options.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace zklock::tools {

[[nodiscard]] int doctor(const DoctorOptions& options);

struct Diagnosis {
  std::size_t locks = 0;  ///< wait queues that are not empty
  std::size_t nodes = 0;  ///< the nodes in them
  std::vector<Finding> findings;

  [[nodiscard]] bool has_problems() const;
};

[[nodiscard]] std::string to_text(const Diagnosis& diagnosis);
[[nodiscard]] std::string to_json(const Diagnosis& diagnosis);

}  // namespace zklock::tools
