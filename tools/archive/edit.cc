#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>

#include "archive/edit/reply.h"
#include "archive/replace.h"
#include "base/bytes.h"
#include "base/http/media_type.h"
#include "base/http/message.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "tools/archive/archive_commands.h"
#include "tools/archive/coding.h"
#include "tools/archive/editor.h"
#include "tools/archive/open.h"
#include "tools/archive/retime.h"
#include "tools/archive/views.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

struct EditArguments {
  fs::path archive;
  fs::path output;
  std::string which;
  std::size_t number = 0;
  std::string think_time;
  fs::path body;
  fs::path headers;
  bool by_hand_head = false;
  bool raw = false;
};

/// The edited response.
struct Edited {
  ReplyHead head;
  std::optional<coding::Buffer> body;  ///< coded; nothing: unchanged
  bool completes = false;              ///< the body is a file of the user: not cut
};

/// Identifies the exchange until it is written: the file may have changed by then.
struct Place {
  std::uint32_t ordinal = 0;
  std::uint64_t record_offset = 0;
  std::uint64_t file_bytes = 0;
  bool operator==(const Place&) const = default;
};

template <class... Parts>
std::nullopt_t refuse(const Parts&... parts) {
  std::string text = "reprise: ";
  ((text += parts), ...);
  std::fprintf(stderr, "%s\n", printable(text).c_str());
  return std::nullopt;
}

/// A file name from which an editor recognises the type.
std::string file_name_of(HeaderList headers) {
  auto const type = media_type(headers);
  constexpr std::pair<const char*, const char*> kSuffixes[] = {
      {"html", "body.html"}, {"script", "body.js"}, {"style", "body.css"},
      {"json", "body.json"}, {"xml", "body.xml"},
  };
  for (auto const& [kind, name] : kSuffixes) {
    if (is_of_kind(type, kind)) return name;
  }
  return "body.txt";
}

/// The requested head; the present one if only the body changes.
std::optional<ReplyHead> wanted_head(const EditArguments& arguments, const StoredReply& reply) {
  if (arguments.headers.empty() && !arguments.by_hand_head) {
    return ReplyHead{.status = reply.status, .reason = reply.reason, .headers = reply.headers};
  }
  std::expected<std::string, std::string> text;
  if (arguments.by_hand_head) {
    auto const present = head_text(reply);
    if (!present) return refuse("a header field of the response cannot be written as text");
    text = edit_by_hand(*present, "head.txt");
  } else {
    text = read_whole_file(arguments.headers, 16 << 20);
  }
  if (!text) return refuse(text.error());
  auto head = parse_head_text(*text);
  if (head) return std::move(*head);
  return refuse(arguments.headers.empty() ? "the edited head" : arguments.headers.string(),
                ": line ", std::to_string(head.error().line), ": ", head.error().what);
}

std::optional<coding::Buffer> bytes_of(const std::expected<std::string, std::string>& text) {
  if (!text) return refuse(text.error());
  auto const bytes = std::as_bytes(std::span(*text));
  return coding::Buffer(bytes.begin(), bytes.end());
}

/// The user's version of the body `now`.
std::optional<coding::Buffer> wanted_body(const EditArguments& arguments, HeaderList headers,
                                          std::span<const std::byte> now) {
  if (!arguments.body.empty()) return bytes_of(read_whole_file(arguments.body, kPlainBodyBytesMax));
  return bytes_of(edit_by_hand(std::string(text_of(now)), file_name_of(headers)));
}

/// Adds the requested body, coded as `head` says.
std::optional<Edited> with_body(const EditArguments& arguments, const ArchiveReader& from,
                                const StoredReply& reply, ReplyHead head) {
  bool const changes =
      !arguments.body.empty() || (arguments.headers.empty() && !arguments.by_hand_head);
  Edited edited{
      .head = std::move(head), .body = std::nullopt, .completes = !arguments.body.empty()};
  auto const before = reply.headers.list();
  auto const after = edited.head.headers.list();
  auto const coded_as = coding::codings_of(after);
  auto const was_coded_as = coding::codings_of(before);
  bool const recode =
      !arguments.raw && (changes || reply.body.size_bytes > 0) &&
      find_header(before, "content-encoding") != find_header(after, "content-encoding") &&
      (!coded_as || !was_coded_as || *coded_as != *was_coded_as);
  if (!changes && !recode) return edited;
  auto const now = from.read_body(reply.body, kPlainBodyBytesMax);
  if (!now) return refuse("cannot read the body: ", now.error().message());
  if (arguments.raw) {
    edited.body = wanted_body(arguments, before, *now);
    return edited.body ? std::optional(std::move(edited)) : std::nullopt;
  }
  if (!coded_as) return refuse("unknown Content-Encoding; use --raw to edit the encoded body");
  auto plain = decode_body(before, *now);
  if (!plain && arguments.body.empty()) {
    return refuse("cannot decode the body: ", plain.error().message(),
                  "; use --raw to edit the encoded body");
  }
  if (changes) {
    auto wanted = wanted_body(arguments, before, plain ? plain->bytes : coding::Buffer());
    if (!wanted) return std::nullopt;
    if (plain && !recode && *wanted == plain->bytes) return edited;
    if (!plain) plain = PlainBody{.bytes = {}, .codings = *coded_as};
    plain->bytes = std::move(*wanted);
  }
  edited.body = recode ? encode_body(*coded_as, plain->bytes, {})
                       : encode_body(plain->codings, plain->bytes, *now);
  return edited;
}

int write_copy(const EditArguments& arguments, const OpenArchive& from, std::uint32_t ordinal,
               const Edited& edited) {
  auto to = NewArchive::make(arguments.output);
  if (!to) return kExitArchive;
  auto const copied =
      EditedCopy(*from.reader, to->writer(), ordinal, edited.head, edited.body, edited.completes)
          .run();
  if (!copied) {
    auto const is_source =
        copied.error() == archive_errc::corrupt || from.reader->report().facts_ignored;
    return say_unusable(is_source ? from.path : to->path(), copied.error());
  }
  return to->finish();
}

int write_in_place(const fs::path& path, const Place& place, const Edited& edited) {
  auto replacement = Replacement::begin(path, ".editing");
  if (!replacement) return say_unusable(path, replacement.error());
  auto const& from = replacement->original();
  if (place.ordinal >= from.entries().size() ||
      Place{.ordinal = place.ordinal,
            .record_offset = from.entries()[place.ordinal].record_offset,
            .file_bytes = from.size_bytes()} != place) {
    refuse(path.string(), ": another program changed the archive meanwhile; nothing was written");
    return kExitArchive;
  }
  auto done = EditedCopy(from, replacement->target(), place.ordinal, edited.head, edited.body,
                         edited.completes)
                  .run();
  if (done) done = replacement->commit({});
  return done ? kExitDone : say_unusable(path, done.error());
}

bool is_unchanged(const Edited& edited, const StoredReply& reply) {
  return !edited.body && edited.head.status == reply.status && edited.head.reason == reply.reason &&
         edited.head.headers == reply.headers;
}

/// 0 if it is not a number.
std::size_t number_in(const std::string& text) {
  std::size_t number = 0;
  auto const* const end = text.data() + text.size();
  auto const [last, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && last == end ? number : 0;
}

int edit(const EditArguments& arguments) {
  auto archive = open_with_remarks(arguments.archive);
  if (!archive) return kExitArchive;
  if (arguments.output.empty() && refuses_as_damaged(*archive)) return kExitArchive;
  auto const found = exchange_at(*archive, arguments.number);
  if (!found) return found.error();
  auto const& reply = found->exchange.response;
  if (reply.status == 0) {
    refuse("exchange ", std::to_string(arguments.number), " has no response to edit");
    return kExitFailed;
  }
  auto head = wanted_head(arguments, reply);
  if (!head) return kExitFailed;
  auto const edited = with_body(arguments, *archive->reader, reply, std::move(*head));
  if (!edited) return kExitFailed;
  auto const body_bytes = edited->body ? edited->body->size() : reply.body.size_bytes;
  if (body_bytes > 0 && !may_have_body(found->exchange.request.method, edited->head.status)) {
    refuse("a response to ", found->exchange.request.method, " with status ",
           std::to_string(edited->head.status), " cannot have a body");
    return kExitFailed;
  }
  if (is_unchanged(*edited, reply)) {
    std::fprintf(stderr, "no changes: nothing was written\n");
    return kExitDone;
  }
  Place const place{.ordinal = found->ordinal,
                    .record_offset = archive->reader->entries()[found->ordinal].record_offset,
                    .file_bytes = archive->reader->size_bytes()};
  auto const in_place = arguments.output.empty();
  if (in_place) archive.reset();  // releases its lock, which excludes writers
  auto const exit_code = in_place ? write_in_place(arguments.archive, place, *edited)
                                  : write_copy(arguments, *archive, found->ordinal, *edited);
  if (exit_code != kExitDone) return exit_code;
  std::fprintf(stderr, "edited %s: exchange %zu, %s of body, before %llu\n",
               (in_place ? arguments.archive : arguments.output).c_str(), arguments.number,
               counted(body_bytes, "byte").c_str(),
               static_cast<unsigned long long>(reply.body.size_bytes));
  return kExitDone;
}

}  // namespace

void add_edit_command(CLI::App& archive, int& exit_code) {
  auto const arguments = std::make_shared<EditArguments>();
  auto* const command =
      add_command(archive, "edit", "Change one response, in an editor or from a file");
  command->add_option("ARCHIVE", arguments->archive, "Archive to change")->required();
  command
      ->add_option("N", arguments->which,
                   "Number of the exchange in `ls`; with --think-time also a FILTER")
      ->required();
  auto* const body = command->add_option(
      "--body", arguments->body,
      "Read the new body, decoded, from FILE (`cat --decoded` prints the present one); a cut "
      "response is complete with it");
  auto* const headers = command->add_option(
      "--headers", arguments->headers,
      "Read the new head from FILE: status and reason, then fields (`cat --head` prints the "
      "present one); a new Content-Encoding there re-encodes the body");
  auto* const head =
      command->add_flag("--head", arguments->by_hand_head, "Edit the head instead of the body")
          ->excludes(headers);
  auto* const raw = command->add_flag("--raw", arguments->raw, "Edit the body in its encoded form");
  command
      ->add_option("--think-time", arguments->think_time,
                   "Set the time between request and response (30ms) or change it (+30ms, -30ms, "
                   "x1.5); the rest of the response moves along")
      ->excludes(headers)
      ->excludes(head)
      ->excludes(body)
      ->excludes(raw);
  command->add_option("-o", arguments->output,
                      "Write the result to a new archive and leave this one unchanged");
  command->footer(
      "Without --body, --headers and --head, the decoded body is opened in $VISUAL or $EDITOR. The "
      "new body is\nencoded as before and Content-Length is adjusted; all other fields, such as "
      "ETag, stay. The change is atomic.");
  command->callback([arguments, &exit_code] {
    if (!arguments->think_time.empty()) {
      exit_code = retime({.archive = arguments->archive,
                          .output = arguments->output,
                          .which = arguments->which,
                          .think_time = arguments->think_time});
      return;
    }
    arguments->number = number_in(arguments->which);
    if (arguments->number == 0) {
      throw CLI::ValidationError("N", " must be the number of one exchange, from 1");
    }
    exit_code = edit(*arguments);
  });
}

}  // namespace reprise
