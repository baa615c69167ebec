#pragma once

// Verbs for tests of the archive: a writer that fails loudly, a model exchange that uses every
// member.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/exchange.h"
#include "archive/reader.h"
#include "archive/writer.h"
#include "tests/scratch_folder.h"

namespace reprise {

std::span<const std::byte> as_bytes(std::string_view text);
std::string as_text(std::span<const std::byte> bytes);
std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// Bytes that do not compress and differ by seed.
std::string noise(std::size_t size, std::uint64_t seed);

std::unique_ptr<ArchiveWriter> create_archive(const std::filesystem::path& path);
std::unique_ptr<ArchiveWriter> append_archive(const std::filesystem::path& path);
std::unique_ptr<ArchiveReader> open_archive(const std::filesystem::path& path);

StoredBody store(ArchiveWriter& writer, std::string_view bytes);
/// A body in several chunk records of a few bytes, got by leaving no memory to hold them.
StoredBody store_in_chunks(ArchiveWriter& writer, const std::vector<std::string_view>& chunks);
std::string load(const ArchiveReader& reader, const StoredBody& body);

SessionInfo a_session();
/// A GET of `url_path` at https://example.org, answered by 200 and an empty body.
Exchange an_exchange(std::uint64_t sequence, std::string_view url_path);
/// Every member set, with bodies stored through `writer`.
Exchange a_full_exchange(ArchiveWriter& writer, std::uint64_t sequence);
ConnectionFacts a_connection(std::uint64_t id);
/// Every member set.
DnsAnswer an_answer(std::string_view host);

/// Adds an exchange that must succeed.
void add(ArchiveWriter& writer, Exchange exchange);

/// All exchanges in (session, sequence) order; every one must decode.
std::vector<Exchange> exchanges_of(const ArchiveReader& reader);

void expect_same(const Exchange& a, const Exchange& b);
void expect_same(const ConnectionFacts& a, const ConnectionFacts& b);
void expect_same(const DnsAnswer& a, const DnsAnswer& b);
void expect_same(const SessionInfo& a, const SessionInfo& b);

/// The number of problems, with each noted as a failure message when there should be none.
std::vector<std::string> problems_of(const ArchiveReader& reader);

}  // namespace reprise
