#include "register.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <memory>
#include <sstream>
#include <utility>

namespace zklock::chaos {

namespace asio = boost::asio;
using boost::system::error_code;

bool TokenRegister::accept(std::int64_t token, Share share) {
  if (share == Share::permit) return true;
  if (token < (share == Share::alone ? greatest_ : greatest_writer_)) return false;
  greatest_ = std::max(greatest_, token);
  if (share == Share::alone) greatest_writer_ = token;
  return true;
}

/// A connection, and where its user is.
struct Register::Visitor : std::enable_shared_from_this<Visitor> {
  Visitor(Register& r, tcp::socket s) : place{r}, socket{std::move(s)} {}
  ~Visitor() {
    for (const auto& [key, inside] : rooms) note(Event::left, inside);
  }

  Register& place;
  tcp::socket socket;
  std::string input{};
  std::string answer{};
  std::map<std::pair<std::string, std::int64_t>, Record> rooms{};

  void note(Event event, Record record) const {
    record.event = event;
    place.log_.write(std::move(record));
  }

  void listen() {
    asio::async_read_until(socket, asio::dynamic_buffer(input), '\n',
                           [self = shared_from_this()](error_code error, std::size_t length) {
                             if (error) return;
                             const bool yes = self->answer_to(self->input.substr(0, length));
                             self->input.erase(0, length);
                             self->say(yes ? "yes\n" : "no\n");
                           });
  }

  void say(std::string words) {
    answer = std::move(words);
    asio::async_write(socket, asio::buffer(answer), [self = shared_from_this()](error_code error, std::size_t) {
      if (!error) self->listen();
    });
  }

  bool answer_to(const std::string& line) {
    std::istringstream in{line};
    std::string word;
    Record record;
    int share = 0;
    in >> word >> record.lock >> record.token;
    if (word == "leave") {
      const auto node = rooms.extract({record.lock, record.token});
      if (node) note(Event::left, node.mapped());
      return !node.empty();
    }
    in >> share >> record.process >> record.operation;
    record.number = share;
    const bool accepted = place.tokens_[record.lock].accept(record.token, Share{share});
    note(accepted ? Event::entered : Event::turned_away, record);
    if (accepted) rooms[{record.lock, record.token}] = record;
    return accepted;
  }
};

Register::Register(const std::filesystem::path& log)
    : acceptor_{context_, tcp::endpoint{asio::ip::address_v4::loopback(), 0}}, log_{log} {
  accept();
}

void Register::run() { context_.run(); }

void Register::accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket socket) {
    if (error) return;
    socket.set_option(tcp::no_delay{true});
    std::make_shared<Visitor>(*this, std::move(socket))->listen();
    accept();
  });
}

Access::Access(std::uint16_t port, int process) : process_{process} {
  socket_.connect({asio::ip::address_v4::loopback(), port});
  socket_.set_option(asio::ip::tcp::no_delay{true});
}

bool Access::enter(const std::string& lock, std::int64_t token, Share share, std::int64_t operation) {
  std::ostringstream line;
  line << "enter " << lock << ' ' << token << ' ' << static_cast<int>(share) << ' ' << process_ << ' ' << operation
       << '\n';
  return ask(std::move(line).str());
}

void Access::leave(const std::string& lock, std::int64_t token) {
  static_cast<void>(ask("leave " + lock + ' ' + std::to_string(token) + '\n'));
}

bool Access::ask(const std::string& line) {
  asio::write(socket_, asio::buffer(line));
  const std::size_t length = asio::read_until(socket_, asio::dynamic_buffer(unread_), '\n');
  const bool yes = unread_.substr(0, length) == "yes\n";
  unread_.erase(0, length);
  return yes;
}

}  // namespace zklock::chaos
