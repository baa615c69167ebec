#include "proxy/replay/response/negotiation.h"

#include <gtest/gtest.h>

#include <string>

namespace reprise {
namespace {

using coding::Coding;

bool takes(std::string_view accepted, std::vector<Coding> codings = {Coding::kGzip}) {
  std::vector<HeaderView> const request{{.name = "Accept-Encoding", .value = accepted}};
  return takes_codings(request, request, codings);
}

TEST(Negotiation, GoesByNamesAndWeights) {
  for (auto const* const yes :
       {"gzip", "GZIP", "x-gzip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.001", "*", "deflate, *",
        "*;q=0, gzip", "gzip;q=1", " gzip ; q=0.5 ", "gzip;x=y", "gzip;q="}) {
    EXPECT_TRUE(takes(yes)) << yes;
  }
  for (auto const* const no : {"", "identity", "br", "gzip;q=0", "gzip;q=0.000", "gzip; Q=0", "gz",
                               "*;q=0", "gzip;q=0, *", "br, *;q=0", "gzip2", ","}) {
    EXPECT_FALSE(takes(no)) << no;
  }
}

TEST(Negotiation, OfSeveralInARowAllAreNeeded) {
  EXPECT_TRUE(takes("gzip, br", {Coding::kGzip, Coding::kBrotli}));
  EXPECT_FALSE(takes("gzip", {Coding::kGzip, Coding::kBrotli}));
  EXPECT_TRUE(takes("deflate", {Coding::kRawDeflate}));
  EXPECT_TRUE(takes("zstd", {Coding::kZstd}));
}

TEST(Negotiation, FieldsOfOneNameAreOneList) {
  std::vector<HeaderView> const request{{.name = "accept-encoding", .value = "br"},
                                        {.name = "Accept-Encoding", .value = "gzip"}};
  EXPECT_TRUE(takes_codings(request, {}, std::vector{Coding::kGzip}));
}

TEST(Negotiation, WhoAsksForNoneGetsWhatWasRecordedSo) {
  std::vector<HeaderView> const none;
  std::vector<HeaderView> const asked{{.name = "Accept-Encoding", .value = "gzip"}};
  EXPECT_TRUE(takes_codings(none, none, std::vector{Coding::kGzip}));
  EXPECT_FALSE(takes_codings(none, asked, std::vector{Coding::kGzip}));
}

}  // namespace
}  // namespace reprise
