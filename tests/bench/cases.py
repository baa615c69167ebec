"""What is measured, and what must come out."""

from dataclasses import dataclass

from servers import FRESH_NAMES, H1_HOST, H2_HOST, H3_HOST


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    protocol: str            # a key of a server's ports
    name_of_object: str      # a key of servers.OBJECTS
    requests: int            # of one repetition, for 2 to 4 s of a server's time
    limit: float             # our CPU time is to be at most this times that of the best peer
    connections: bool = False     # each request on a new connection
    fresh_names: bool = False     # and with a recorded server name that was not asked for yet

    @property
    def host(self):
        return {"h2": H2_HOST, "h3": H3_HOST}.get(self.protocol, H1_HOST)

    @property
    def url(self):
        scheme = "http" if self.protocol == "clear" else "https"
        return f"{scheme}://{self.host}/{self.name_of_object}"


CASES = [
    Case("h1-clear-1k", "h1 clear, 1 KB", "clear", "1k", 300_000, 0.9),
    Case("h1-clear-100k", "h1 clear, 100 KB", "clear", "100k", 100_000, 0.9),
    Case("h1-tls-1k", "h1 over TLS, 1 KB", "h1", "1k", 200_000, 0.9),
    Case("h1-tls-100k", "h1 over TLS, 100 KB", "h1", "100k", 40_000, 0.9),
    Case("h2-tls-1k", "h2 over TLS, 1 KB", "h2", "1k", 500_000, 1.0),
    Case("h2-tls-100k", "h2 over TLS, 100 KB", "h2", "100k", 40_000, 1.0),
    Case("h3-1k", "h3, 1 KB", "h3", "1k", 60_000, 1.0),
    Case("h3-10k", "h3, 10 KB", "h3", "10k", 30_000, 1.0),
    Case("h3-100k", "h3, 100 KB", "h3", "100k", 5_000, 1.0),
    Case("tls-known-sni", "new TLS connections, known SNI", "h1", "1k", 6_000, 1.0,
         connections=True),
    Case("tls-fresh-sni", "new TLS connections, fresh SNI", "h1", "1k", FRESH_NAMES, 1.0,
         connections=True, fresh_names=True),
]
