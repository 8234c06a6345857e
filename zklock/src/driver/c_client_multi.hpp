// A transaction in the C client's types.
#pragma once

#include "driver.hpp"

#include <zookeeper/zookeeper.h>

#include <list>
#include <string>
#include <vector>

namespace zklock {

/// An ACL in the C client's types. Points into the Acl from which it was made.
class NativeAcl {
 public:
  explicit NativeAcl(const Acl& acl);
  [[nodiscard]] const ::ACL_vector* get() const noexcept { return &vector_; }
  NativeAcl(const NativeAcl&) = delete;
  NativeAcl& operator=(const NativeAcl&) = delete;

 private:
  std::vector<::ACL> entries_;
  ::ACL_vector vector_;
};

[[nodiscard]] Stat to_stat(const ::Stat& stat);

/// The memory that the library reads and writes while a transaction is under way. It must exist until the reply has
/// come or the handle is closed.
class MultiCall {
 public:
  explicit MultiCall(std::vector<Request> parts);
  MultiCall(const MultiCall&) = delete;
  MultiCall& operator=(const MultiCall&) = delete;

  int submit(zhandle_t* handle, void_completion_t completion, const void* context);
  [[nodiscard]] const std::vector<Operation>& operations() const noexcept { return operations_; }
  /// To be called after the completion with `rc`.
  [[nodiscard]] Reply to_reply(int rc) const;

 private:
  struct Part {
    explicit Part(Request&& r) : request{std::move(r)}, acl{request.acl} {}
    Request request;
    NativeAcl acl;
    std::string created_path{};
    ::Stat stat{};
  };

  static void describe(Part& part, zoo_op_t& op);
  [[nodiscard]] Reply reply_of(const Part& part, int rc, bool failed) const;

  std::list<Part> parts_;
  std::vector<Operation> operations_;
  std::vector<zoo_op_t> ops_;
  std::vector<zoo_op_result_t> results_;
};

}  // namespace zklock
