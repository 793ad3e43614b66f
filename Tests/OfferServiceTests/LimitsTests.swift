import NIOConcurrencyHelpers
import NIOCore
import OfferCore
import OfferCrypto
import OfferHTTP
import OfferIdentity
import TestSupport
import Testing

/// Rate limits on offer requests.
@Suite("Limits")
struct LimitsTests {
    private static func offer(_ username: String = "u", app: String = "a") -> String {
        #"{"appBundleID":"\#(app)","productIdentifier":"p","offerID":"o","applicationUsername":"\#(username)"}"#
    }

    /// A service with callers `one` and `two`.
    private static func service(
        _ limit: WritableKeyPath<Limits, RateLimit?>, _ perSecond: Double, _ burst: Int, userIssuers: [UserIssuer] = [],
        proxies: TrustedProxies = TrustedProxies()
    ) throws -> TestService {
        try TestService(
            callers: [.test("one"), .test("two")], userIssuers: userIssuers, limits: .with(limit, perSecond, burst),
            proxies: proxies)
    }

    private static let outside = "192.0.2.1"

    @Test("a caller over the limit gets 429 with Retry-After and is served again after that time")
    func tokens() throws {
        let routes = try Self.service(\.tokens, 0.5, 2)
        func status(_ caller: String) -> Int {
            routes.post("/offer", Self.offer(), token: "token-of-\(caller)", peer: Self.outside).status
        }
        #expect([status("one"), status("one"), status("one"), status("two")] == [200, 200, 429, 200])
        let refused = routes.post("/offer", Self.offer(), token: "token-of-one", peer: Self.outside)
        #expect(refused.json["code"] as? String == "rate_limited")
        #expect(refused.retryAfter == 2)
        routes.advanceClock(by: .seconds(2))
        #expect([status("one"), status("one")] == [200, 429])
        let lines = routes.log.lines(with: "warning rate limit exceeded")
        #expect(lines.count == 1, "a flood of refusals does not flood the log")
        #expect(lines.first?.contains("the caller one") == true)
    }

    @Test("a customer is limited per app across all callers; an empty username is not limited")
    func customers() throws {
        let routes = try Self.service(\.customers, 1, 1)
        func status(_ username: String, app: String = "a", by caller: String = "one") -> Int {
            routes.post("/offer", Self.offer(username, app: app), token: "token-of-\(caller)").status
        }
        #expect([status("u"), status("u"), status("v"), status("u", app: "b")] == [200, 429, 200, 200])
        #expect(status("u", by: "two") == 429)
        #expect([status(""), status(""), status("")] == [200, 200, 200])
        // A JWS names a transaction instead of a username, so the transaction is limited too.
        let bound = ["x", "y"].map { username in
            routes.post(
                "/v1/promotional-offers",
                #"{"bundleID":"a","productID":"p","offerID":"o","applicationUsername":"\#(username)","transactionID":"1"}"#,
                token: "token-of-one"
            ).status
        }
        #expect(bound == [200, 429])
    }

    @Test("an address without a valid token gets 401 within its rate limit and 429 beyond it")
    func addresses() throws {
        let routes = try Self.service(\.addresses, 1, 2)
        func status(_ token: String?, from peer: String?) -> Int {
            routes.post("/offer", Self.offer(), token: token, peer: peer).status
        }
        #expect(
            [status("guess", from: Self.outside), status(nil, from: Self.outside), status("x", from: Self.outside)]
                == [401, 401, 429])
        // While the limit lasts, a right guess is refused too, or guessing could go on. Other addresses have their own limits.
        #expect(status("token-of-one", from: Self.outside) == 429)
        #expect(status("guess", from: "192.0.2.2") == 401)
        #expect(status("token-of-one", from: "192.0.2.2") == 200)
        routes.advanceClock(by: .seconds(1))
        #expect(status("token-of-one", from: Self.outside) == 200)
        // Unknown peers and this machine are not limited.
        for peer in [nil, "127.0.0.1", "::1"] {
            #expect((0..<5).allSatisfy { _ in status("guess", from: peer) == 401 })
        }
        // A subscriber has many IPv6 addresses, so a /64 network shares one limit.
        #expect(
            [status(nil, from: "2001:db8::1"), status(nil, from: "2001:db8::2"), status(nil, from: "2001:db8::3")]
                == [401, 401, 429])
        #expect(status(nil, from: "2001:db8:0:1::1") == 401)
    }

    // MARK: Users

    private static let issuer = UserIssuer(
        issuer: "i", audience: "a", keys: .file(path: "keys"), algorithms: [.es256],
        customer: .applicationUsername("sub"), apps: nil)

    private static let ownOffer = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o"}"#

    private static let longList: String = {
        let offer = #"{"bundleID":"a","productID":"p","offerID":"o"}"#
        return "{\"offers\":[" + Array(repeating: offer, count: 20).joined(separator: ",") + "]}"
    }()

    private static func token(of user: String, by key: ProviderKey) throws -> String {
        let expiry = Fixtures.timestamp.milliseconds / 1000 + 600
        return "Bearer " + (try key.token(claims: #"{"iss":"i","aud":"a","exp":\#(expiry),"sub":"\#(user)"}"#))
    }

    private static func keys(
        of key: ProviderKey, counting verifications: NIOLockedValueBox<Int>
    ) async throws -> UserKeySet {
        let genuine = try await KeySetReader { _, _ in KeySetText([]) }
            .keys(in: Array(ProviderKey.set(key).utf8), from: issuer.keys).set
        return UserKeySet(
            genuine.keys.map { key in
                UserKeySet.Key(id: key.id, algorithm: key.algorithm) { signature, message in
                    verifications.withLockedValue { $0 += 1 }
                    return key.verifies(signature, message)
                }
            })
    }

    @Test(
        "a user's refused requests count against their address, so the verification of their token has an end",
        arguments: [
            // The user's own limit allows two offers, and the address three refusals.
            ("/offer", ownOffer, 5),
            ("/metrics", nil, 3),
            ("/health/ready", nil, 3),
            ("/v1/promotional-offers", longList, 3),
        ] as [(String, String?, Int)])
    func refusedUser(path: String, body: String?, count: Int) async throws {
        var limits = Limits.with(\.addresses, 1, 3)
        limits.users = RateLimit(perSecond: 1, burst: 2)
        let routes = try TestService(callers: [.test("one")], userIssuers: [Self.issuer], limits: limits)
        let (key, verifications) = (ProviderKey(), NIOLockedValueBox(0))
        routes.userKeys.replace(try await Self.keys(of: key, counting: verifications), of: Self.issuer)
        let token = try Self.token(of: "user", by: key)
        let request = HTTPRequest(
            method: body == nil ? "GET" : "POST", target: path, contentType: body.map { _ in "application/json" },
            authorization: token, peer: IPAddress(Self.outside), body: Array((body ?? "").utf8))
        let statuses = (0..<50).map { _ in routes.respond(request).status }
        #expect(verifications.withLockedValue { $0 } == count)
        #expect(statuses.suffix(40).allSatisfy { $0 == (path == "/health/ready" ? 200 : 429) })
        routes.advanceClock(by: .seconds(3))
        #expect(routes.post("/offer", Self.ownOffer, authorization: token, peer: Self.outside).status == 200)
    }

    @Test("a user's refused requests with proofs count against their address too")
    func refusedUserWithProofs() async throws {
        let routes = try Self.service(\.addresses, 1, 3, userIssuers: [Self.issuer])
        let (key, verifications) = (ProviderKey(), NIOLockedValueBox(0))
        routes.userKeys.replace(try await Self.keys(of: key, counting: verifications), of: Self.issuer)
        let token = try Self.token(of: "user", by: key)
        let body =
            #"{"bundleID":"a","productID":"p","offerID":"o","applicationUsername":"other","proofs":{"appReceipt":"AAAA"}}"#
        var statuses: [Int] = []
        for _ in 0..<20 {
            let answer = await routes.postLater(
                "/v1/promotional-offers", body, authorization: token, peer: Self.outside)
            statuses.append(answer.status)
        }
        #expect(statuses == [403, 403, 403] + Array(repeating: 429, count: 17))
        #expect(verifications.withLockedValue { $0 } == 3)
    }

    @Test("a caller's refused requests do not count against an address that others share")
    func refusedCaller() throws {
        var limits = Limits.with(\.addresses, 1, 1)
        limits.tokens = RateLimit(perSecond: 1, burst: 2)
        let routes = try TestService(callers: [.test("signer", [.sign]), .test("two")], limits: limits)
        func scrape() -> Int { routes.get("/metrics", token: "token-of-signer", peer: Self.outside).status }
        #expect((0..<50).map { _ in scrape() } == [403, 403] + Array(repeating: 429, count: 48))
        #expect(
            routes.post("/offer", Self.offer(), token: "token-of-two", peer: Self.outside).status == 200)
    }

    @Test("bad tokens of users count against their address, and no token is verified while its limit lasts")
    func usersBehindOneAddress() async throws {
        let issuer = Self.issuer
        let routes = try TestService(userIssuers: [issuer], limits: .with(\.addresses, 1, 2))
        let key = ProviderKey()
        let verifications = NIOLockedValueBox(0)
        let set = try await Self.keys(of: key, counting: verifications)
        func status(_ user: String, by key: ProviderKey) throws -> Int {
            routes.post("/offer", Self.ownOffer, authorization: try Self.token(of: user, by: key), peer: Self.outside)
                .status
        }
        // Without keys, the service cannot tell a valid token from a bad one.
        #expect(try (0..<5).map { try status("user-\($0)", by: key) } == [503, 503, 503, 503, 503])
        routes.userKeys.replace(set, of: issuer)
        let foreign = ProviderKey()
        let bad = try (0..<1000).map { _ in try status("user", by: foreign) }
        #expect(bad.prefix(2) == [401, 401] && bad.dropFirst(2).allSatisfy { $0 == 429 })
        #expect(verifications.withLockedValue { $0 } == 2)
        #expect(try status("user", by: key) == 429)
        #expect(verifications.withLockedValue { $0 } == 2)
        // Valid users do not use up their address's limit.
        routes.advanceClock(by: .seconds(2))
        #expect(try (0..<20).allSatisfy { try status("user-\($0)", by: key) == 200 })
        #expect(try [status("user", by: foreign), status("user", by: foreign)] == [401, 401])
    }

    @Test("unknown paths, wrong methods and the contract count against an address")
    func cheapRequests() throws {
        func statuses(_ method: String, _ path: String) throws -> [Int] {
            let routes = try TestService(limits: .with(\.addresses, 1, 3))
            return (0..<4).map { _ in
                routes.respond(HTTPRequest(method: method, target: path, peer: IPAddress(Self.outside))).status
            }
        }
        #expect(try statuses("GET", "/nothing") == [404, 404, 404, 429])
        #expect(try statuses("PUT", "/offer") == [405, 405, 405, 429])
        #expect(try statuses("GET", "/openapi.json") == [200, 200, 200, 429])
        #expect(try statuses("GET", "/health/live") == [200, 200, 200, 200])
    }

    @Test("behind a proxy, an earlier client of the connection does not exempt others from counting unknown paths")
    func sharedConnection() throws {
        func statuses(_ networks: [TrustedProxies.Network]) throws -> [Int] {
            let routes = try Self.service(\.addresses, 1, 2, proxies: TrustedProxies(networks))
            let standing = ClientStanding()
            func status(_ method: String, _ path: String, from client: String) -> Int {
                routes.respond(
                    HTTPRequest(
                        method: method, target: path, contentType: "application/json",
                        authorization: "Bearer token-of-one", peer: IPAddress("10.0.0.1"), forwardedFor: client,
                        standing: standing, body: Array(Self.offer().utf8))
                ).status
            }
            return [status("POST", "/offer", from: "198.51.100.1")]
                + (0..<3).map { _ in status("GET", "/nothing", from: "198.51.100.2") }
                + [status("PUT", "/offer", from: "198.51.100.2")]
        }
        #expect(try statuses([]) == [200, 404, 404, 404, 405])
        #expect(
            try statuses([#require(TrustedProxies.Network("10.0.0.0/8"))]) == [200, 404, 404, 429, 429])
    }

    @Test("under load, requests without a caller's token are shed first")
    func shedding() throws {
        let routes = try TestService(callers: [.test("one")])
        func status(_ token: String?, _ shedding: LoadShedding) -> Int {
            routes.post("/offer", Self.offer(), token: token, shedding: shedding).status
        }
        let tokens = ["token-of-one", "guess", nil]
        #expect(tokens.map { status($0, .none) } == [200, 401, 401])
        #expect(tokens.map { status($0, .strangers) } == [200, 503, 503])
        #expect(tokens.map { status($0, .all) } == [503, 503, 503])
    }

    @Test("when everything is shed, only health checks and metrics are answered")
    func sheddingAll() throws {
        let routes = try TestService()
        func status(_ path: String, _ shedding: LoadShedding) -> Int {
            routes.get(path, shedding: shedding).status
        }
        let paths = ["/health/live", "/health/ready", "/metrics", "/openapi.json"]
        #expect(paths.map { status($0, .all) } == [200, 200, 200, 503])
        #expect(paths.map { status($0, .strangers) } == [200, 200, 200, 200])
    }

    @Test("under load, too, a guessed token counts against its address, and a right one is refused after too many")
    func sheddingGuesses() throws {
        let routes = try Self.service(\.addresses, 1, 2, userIssuers: [Self.issuer])
        func status(_ token: String?) -> Int {
            routes.post("/offer", Self.offer(), token: token, peer: Self.outside, shedding: .strangers).status
        }
        // Neither no token nor what may be a user's is a guess.
        #expect((0..<5).allSatisfy { _ in status(nil) == 503 && status("eyJhbGciOiJFUzI1NiJ9.e30.AA") == 503 })
        #expect(["token-of-one", "guess", "a.b.c", "guess", "token-of-one"].map(status) == [200, 503, 503, 429, 429])
    }

    @Test("a token larger than 8 kB is refused before it is hashed")
    func hugeToken() throws {
        let tokens = [8 * 1024, 8 * 1024 + 1].map { String(repeating: "a", count: $0) }
        #expect(tokens.map(Caller.isToken) == [true, false])
        let routes = try TestService(callers: tokens.map { try .test("c", [.sign], token: $0) })
        for (token, statuses) in zip(tokens, [[200, 200], [401, 503]]) {
            let answers = [LoadShedding.none, .strangers].map {
                routes.post("/offer", Self.offer(), token: token, shedding: $0).status
            }
            #expect(answers == statuses)
        }
        #expect(routes.log.text.contains("it is larger than 8 kB"))
    }

    @Test("without callers, each address has a limit; behind a proxy, it applies to the client's address")
    func proxies() throws {
        func routes(_ proxies: TrustedProxies) throws -> TestService {
            try TestService(limits: .with(\.addresses, 1, 1), proxies: proxies)
        }
        func statuses(_ routes: TestService, _ clients: [String?]) -> [Int] {
            clients.map { routes.post("/offer", Self.offer(), peer: "10.0.0.1", forwardedFor: $0).status }
        }
        let network = try #require(TrustedProxies.Network("10.0.0.0/8"))
        let clients = ["198.51.100.1", "198.51.100.2", "198.51.100.1", "1.1.1.1, 198.51.100.1"]
        #expect(try statuses(routes(TrustedProxies([network])), clients) == [200, 200, 429, 429])
        let here = try routes(TrustedProxies([try #require(TrustedProxies.Network("127.0.0.1"))]))
        let garbage = (0..<3).map { _ in
            here.post("/offer", Self.offer(), peer: "127.0.0.1", forwardedFor: "unknown").status
        }
        #expect(garbage == [200, 429, 429], "unlike a local program, a proxy on this machine is limited")
        #expect(try statuses(routes(TrustedProxies()), clients) == [200, 429, 429, 429])
        #expect(try statuses(routes(TrustedProxies(arePeersProxies: true)), clients) == [200, 200, 200, 200])
    }

    @Test(
        "a stranger behind a proxy that is not trusted cannot use up the limit of the callers behind it",
        arguments: [("127.0.0.1", [], false), ("10.1.0.1", ["10.244.0.0/16"], true)] as [(String, [String], Bool)])
    func untrustedProxy(proxy: String, networks: [String], arePeersProxies: Bool) throws {
        let proxies = TrustedProxies(
            try networks.map { try #require(TrustedProxies.Network($0)) }, arePeersProxies: arePeersProxies)
        let routes = try Self.service(\.addresses, 1, 1, proxies: proxies)
        func status(_ token: String, from client: String) -> Int {
            routes.post(
                "/offer", Self.offer(), token: token, peer: proxy, forwardedFor: client
            ).status
        }
        #expect((0..<5).allSatisfy { _ in status("guess", from: "198.51.100.1") == 401 })
        #expect(status("token-of-one", from: "198.51.100.2") == 200)
        let warnings = routes.log.lines(with: "warning an untrusted proxy")
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains(proxy) == true)
        #expect(warnings.first?.contains("SUBSCRIPTION_OFFERS_TRUSTED_PROXIES") == true)
    }
}
