#include "record.hpp"

#include <array>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace zklock::chaos {
namespace {

constexpr std::array<std::string_view, 32> names{
    "invoked",  "granted", "refused",   "listens",  "lost",    "trusts",  "releasing",   "released",
    "finished", "stalled", "late",      "measured", "drained", "entered", "turned_away", "left",
    "fault",    "healed",  "keeps",     "claims",   "wishes",  "closes",  "closed",      "shows",
    "follows",  "told",    "unfollows", "looks",    "holds",   "held",    "adds",        "added"};
constexpr const char* nothing = "-";

thread_local std::chrono::nanoseconds spent_in_writes{0};

std::optional<Event> find_event(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return Event{static_cast<int>(i)};
  return std::nullopt;
}

std::string word(const std::string& text) { return text.empty() ? nothing : text; }
std::string text(std::string word) { return word == nothing ? std::string{} : word; }

}  // namespace

std::string_view to_string(Event event) noexcept { return names[static_cast<std::size_t>(event)]; }

std::string to_line(const Record& record) {
  std::ostringstream line;
  line << record.at << ' ' << to_string(record.event) << ' ' << record.process << ' ' << record.operation << ' '
       << word(record.lock) << ' ' << record.token << ' ' << record.session << ' ' << record.number << ' '
       << record.limit << ' ' << word(record.reason) << '\n';
  return std::move(line).str();
}

std::optional<Record> parse_line(std::string_view line) {
  std::istringstream in{std::string{line}};
  Record record;
  std::string event;
  if (!(in >> record.at >> event >> record.process >> record.operation >> record.lock >> record.token >>
        record.session >> record.number >> record.limit >> record.reason))
    return std::nullopt;
  const auto known = find_event(event);
  if (!known) return std::nullopt;
  record.event = *known;
  record.lock = text(std::move(record.lock));
  record.reason = text(std::move(record.reason));
  return record;
}

std::vector<Record> read_log(const std::filesystem::path& path) {
  std::vector<Record> records;
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);)
    if (auto record = parse_line(line)) records.push_back(std::move(*record));
  return records;
}

std::int64_t now_in_microseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

Log::Log(const std::filesystem::path& path)
    : file_{::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)} {
  if (file_ < 0) throw std::system_error{errno, std::generic_category(), path.string()};
}

Log::~Log() { ::close(file_); }

std::chrono::nanoseconds Log::time_in_writes() noexcept { return spent_in_writes; }

void Log::write(Record record) const {
  if (record.at == 0) record.at = now_in_microseconds();
  const std::string line = to_line(record);
  const auto begin = std::chrono::steady_clock::now();
  const ssize_t written = ::write(file_, line.data(), line.size());
  spent_in_writes += std::chrono::steady_clock::now() - begin;
  if (written != static_cast<ssize_t>(line.size()))
    throw std::system_error{errno, std::generic_category(), "a log of the campaign"};
}

}  // namespace zklock::chaos
