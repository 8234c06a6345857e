// Our node in a lock's line, from the moment it may exist until it is certain that it does not.
#pragma once

#include "siblings.hpp"

#include <zklock/detail/spawn.hpp>
#include <zklock/session.hpp>

#include <memory>
#include <string>

namespace zklock {

/// One attempt's node: "<directory>/_c_<uuid>-<marker><sequence>". The uuid is the attempt's own, so that the node is
/// found again after a lost reply, and so that no late delete can hit another attempt's.
///
/// `marker` is of static storage. With `number` the place is beside the node of that sequence number, rather than at
/// the end of the line.
///
/// Whoever lets go of it without keep() leaves the line: the node is deleted, now or as soon as it turns out to exist.
/// Threads: the session's executor.
class PlaceInLine {
 public:
  PlaceInLine(Session session, std::string directory, std::string_view marker, std::string data,
              std::string number = {});
  ~PlaceInLine();
  PlaceInLine(PlaceInLine&&) = delete;

  /// Our other nodes are to know of this one.
  void stand_among(std::shared_ptr<Siblings> siblings, LockKind kind);
  /// Something to keep until the node is certain not to exist, or is a lease's.
  void keep_meanwhile(std::shared_ptr<const void> thing);

  /// Puts the create on the wire. Its outcome is known when the reply of a request made after it is there.
  void request();
  /// Waits for that of the create alone.
  [[nodiscard]] Awaitable<error_code> answered();
  /// After an ambiguous outcome: finds the node if it was made after all.
  [[nodiscard]] Awaitable<error_code> recover();

  /// Of the last request; success: we stand in line.
  [[nodiscard]] error_code error() const;
  [[nodiscard]] bool is_in_line() const;
  /// With the server's digits.
  [[nodiscard]] const CreateResult& node() const;
  [[nodiscard]] std::string name() const;
  /// What our other nodes know of this one.
  [[nodiscard]] const std::shared_ptr<Sibling>& sibling() const;
  /// When the create was put on the wire.
  [[nodiscard]] Siblings::Moment asked_for() const;

  /// The node is a lease's from now on.
  CreateResult keep();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace zklock
