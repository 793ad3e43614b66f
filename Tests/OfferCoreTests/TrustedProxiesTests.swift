import OfferCore
import Testing

@Suite("Addresses and trusted proxies")
struct TrustedProxiesTests {
    @Test(
        "different spellings of an address are equal",
        arguments: [
            ("192.0.2.1", "::ffff:192.0.2.1"), ("192.0.2.1", "::FFFF:c000:201"),
            ("2001:db8::1", "2001:DB8:0:0:0:0:0:1"),
            ("::", "0:0:0:0:0:0:0:0"), ("::1", "0::0:1"), ("1::", "1:0:0:0:0:0:0:0"),
        ])
    func spellings(one: String, other: String) throws {
        let address = try #require(IPAddress(one))
        #expect(address == IPAddress(other))
    }

    @Test(
        "a string that is not an address is refused",
        arguments: [
            "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.-4", "01.2.3.4", "1.2.3.4 ", "+1.2.3.4", ":", ":::",
            "1::2::3",
            "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "g::", "[::1]", "fe80::1%eth0", "1.2.3.4:80", "::1.2.3",
            "-1::",
            "1:2:3:4:5:6:7::8", "unknown", "１.2.3.4",
        ])
    func noAddress(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(
        "the text of an address is canonical (RFC 5952), and is the same address again",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("::ffff:c000:201", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"),
            ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("::", "::"), ("0:0:0:0:0:0:0:1", "::1"), ("1::", "1::"),
            ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"), ("1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"), ("::1.2.3.4", "::102:304"),
        ])
    func text(spelling: String, text: String) throws {
        let address = try #require(IPAddress(spelling))
        #expect(address.description == text)
        #expect(IPAddress(address.description) == address)
    }

    @Test("loopback is 127.0.0.0/8 and ::1")
    func loopback() {
        for text in ["127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1"] {
            #expect(IPAddress(text)?.isLoopback == true, "\(text)")
        }
        for text in ["126.0.0.1", "128.0.0.1", "::2", "::", "::7f00:1"] {
            #expect(IPAddress(text)?.isLoopback == false, "\(text)")
        }
    }

    @Test(
        "a malformed network, one with a zero prefix, or one with bits beyond its prefix is refused",
        arguments: [
            "10.1.0.0/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/+8", "0.0.0.0/0", "::/0", "/8", "::/129",
            "::1/127", "a/8",
        ])
    func noNetwork(text: String) {
        #expect(TrustedProxies.Network(text) == nil)
    }

    @Test("X-Forwarded-For is read from the right, and only addresses seen by trusted proxies count")
    func forwardedFor() throws {
        let proxies = TrustedProxies(
            try ["10.0.0.0/8", "2001:db8::/32", "127.0.0.1"].map { try #require(TrustedProxies.Network($0)) })
        func client(_ peer: String, _ forwardedFor: String?) throws -> IPAddress? {
            proxies.client(of: try #require(IPAddress(peer)), forwardedFor: forwardedFor)
        }
        // The header of a peer that is not a proxy is ignored.
        #expect(try client("192.0.2.9", "198.51.100.1") == IPAddress("192.0.2.9"))
        #expect(try client("11.0.0.1", "198.51.100.1") == IPAddress("11.0.0.1"))
        #expect(try client("10.0.0.1", nil) == IPAddress("10.0.0.1"))
        #expect(try client("10.0.0.1", "198.51.100.1") == IPAddress("198.51.100.1"))
        #expect(try client("10.255.255.255", "203.0.113.5, 198.51.100.1") == IPAddress("198.51.100.1"))
        #expect(try client("10.0.0.1", "203.0.113.5,\t198.51.100.1 ,10.0.0.2") == IPAddress("198.51.100.1"))
        #expect(try client("::ffff:10.0.0.1", "2001:db8:ffff::1, 2001:db9::1") == IPAddress("2001:db9::1"))
        // A request sent by a proxy itself is attributed to the address that the nearest proxy saw, not to a forged one.
        #expect(try client("10.0.0.1", "10.0.0.3, 10.0.0.2") == IPAddress("10.0.0.2"))
        #expect(try client("10.0.0.1", "127.0.0.1, 10.0.0.2") == IPAddress("10.0.0.2"))
        #expect(try client("10.0.0.1", "198.51.100.1, nonsense") == IPAddress("10.0.0.1"))
        #expect(try client("10.0.0.1", "nonsense, 10.0.0.2") == IPAddress("10.0.0.2"))
        #expect(try client("10.0.0.1", "198.51.100.1:443") == IPAddress("198.51.100.1"))
        #expect(try client("10.0.0.1", "[2001:db9::1]:443, [2001:db8::1]") == IPAddress("2001:db9::1"))
        #expect(try client("10.0.0.1", "") == IPAddress("10.0.0.1"))
        let none = try #require(IPAddress("10.0.0.1"))
        #expect(TrustedProxies().client(of: none, forwardedFor: "1.2.3.4") == none)
        #expect(TrustedProxies(arePeersProxies: true).client(of: none, forwardedFor: "1.2.3.4") == nil)
    }

    @Test(
        "a proxy on this machine, or where every peer is a proxy, stands for unknown clients if it is not trusted",
        arguments: [
            // peer, networks, arePeersProxies, client without X-Forwarded-For, client with it, missing with it
            ("127.0.0.1", [], false, "127.0.0.1", nil, true),
            ("::1", [], false, "::1", nil, true),
            ("127.0.0.1", ["10.0.0.0/8"], false, "127.0.0.1", nil, true),
            ("127.0.0.1", ["127.0.0.1"], false, "127.0.0.1", "198.51.100.1", false),
            ("127.0.0.1", [], true, nil, nil, false),
            ("10.0.0.1", [], false, "10.0.0.1", "10.0.0.1", false),
            ("10.0.0.1", ["192.0.2.0/24"], false, "10.0.0.1", "10.0.0.1", false),
            ("10.0.0.1", ["192.0.2.0/24"], true, "10.0.0.1", nil, true),
            ("10.0.0.1", ["10.0.0.0/8"], true, "10.0.0.1", "198.51.100.1", false),
            ("10.0.0.1", [], true, nil, nil, false),
        ] as [(String, [String], Bool, String?, String?, Bool)])
    func untrusted(
        peer: String, networks: [String], arePeersProxies: Bool, direct: String?, forwarded: String?, isMissing: Bool
    ) throws {
        let proxies = TrustedProxies(
            try networks.map { try #require(TrustedProxies.Network($0)) }, arePeersProxies: arePeersProxies)
        let peer = try #require(IPAddress(peer))
        #expect(proxies.client(of: peer, forwardedFor: nil)?.description == direct)
        #expect(proxies.client(of: peer, forwardedFor: "198.51.100.1")?.description == forwarded)
        #expect(proxies.isMissing(peer, forwardedFor: "198.51.100.1") == isMissing)
        #expect(!proxies.isMissing(peer, forwardedFor: nil))
    }

    @Test(
        "a list of proxies decides who is one; without a list, every peer is one or none is",
        arguments: [
            ("10.0.0.1", [], false, false), ("10.0.0.1", [], true, true),
            ("10.0.0.1", ["10.0.0.0/8"], false, true), ("10.0.0.1", ["10.0.0.0/8"], true, true),
            ("192.0.2.1", ["10.0.0.0/8"], false, false), ("192.0.2.1", ["10.0.0.0/8"], true, false),
        ] as [(String, [String], Bool, Bool)])
    func isProxy(peer: String, networks: [String], arePeersProxies: Bool, isProxy: Bool) throws {
        let proxies = TrustedProxies(
            try networks.map { try #require(TrustedProxies.Network($0)) }, arePeersProxies: arePeersProxies)
        #expect(try proxies.isProxy(#require(IPAddress(peer))) == isProxy)
    }

    @Test("a subscriber is an IPv4 address or the first half of an IPv6 address")
    func subscribers() throws {
        let one = try #require(IPAddress("2001:db8:1:2:3:4:5:6"))
        #expect(one.subscriber == IPAddress("2001:db8:1:2::"))
        let other = try #require(IPAddress("192.0.2.1"))
        #expect(other.subscriber == other)
    }
}
