import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferService
import OfferTelemetry
import TestSupport
import Testing

@Suite("Metrics")
struct MetricsTests {
    private static let transaction = #","transactionID":"2000000123456789""#

    private static func offer(_ app: String = "a", id: String = "o", more: String = "") -> String {
        #"{"bundleID":"\#(app)","productID":"p","offerID":"\#(id)","applicationUsername":"u"\#(more)}"#
    }

    private static func catalogue(_ apps: String...) throws -> Catalogue {
        let product = try ProductID(utf8: Array("p".utf8))
        let offer = try OfferID(utf8: Array("o".utf8))
        return Catalogue(
            apps: Dictionary(
                uniqueKeysWithValues: try apps.map {
                    (try BundleID(utf8: Array($0.utf8)), Catalogue.App(offers: [product: [offer]]))
                }))
    }

    @Test("a known mix of requests is counted exactly by route, status, kind, app, key and code")
    func mix() throws {
        let routes = try TestService(
            catalogue: Self.catalogue("a", "b"),
            issuerIDs: IssuerIDs(ofAllApps: Fixtures.issuerID()))
        for _ in 0..<3 { #expect(routes.post("/v1/promotional-offers", Self.offer()).status == 200) }
        let withJWS = Self.offer("b", more: Self.transaction)
        for _ in 0..<2 { #expect(routes.post("/v1/promotional-offers", withJWS).status == 200) }
        let list = #"{"offers":[\#(Self.offer()),\#(Self.offer(id: "other")),\#(Self.offer("c"))]}"#
        #expect(routes.post("/v1/promotional-offers", list).status == 200)
        let introductory = #"{"bundleID":"a","productID":"p","allowIntroductoryOffer":true\#(Self.transaction)}"#
        #expect(routes.post("/v1/introductory-offers", introductory).status == 200)
        #expect(routes.post("/v1/advanced-commerce", #"{"bundleID":"a","request":{"operation":"x"}}"#).status == 200)
        #expect(routes.post("/offer", "[]").status == 400)
        let sample = #"{"appBundleID":"c","productID":"p","offerID":"o","applicationUsername":""}"#
        #expect(routes.post("/offer", sample).status == 403)
        #expect(routes.get("/v1/promotional-offers").status == 405)
        #expect(routes.get("/offers").status == 404)
        _ = routes.router.response(to: .timedOut, context: RequestContext())

        let scrape = routes.scrape()
        func expect(_ name: String, _ expected: [String: Double]) {
            let found = scrape.values.filter { $0.key.hasPrefix(name + "{") && $0.value != 0 }
            #expect(found == Dictionary(uniqueKeysWithValues: expected.map { ("\(name){\($0.key)}", $0.value) }))
        }
        expect(
            "offer_signer_requests_total",
            [
                #"route="/v1/promotional-offers",status="200""#: 6, #"route="/v1/introductory-offers",status="200""#: 1,
                #"route="/v1/advanced-commerce",status="200""#: 1, #"route="/offer",status="400""#: 1,
                #"route="/offer",status="403""#: 1, #"route="/v1/promotional-offers",status="405""#: 1,
                #"route="other",status="404""#: 1, #"route="none",status="408""#: 1,
            ])
        expect(
            "offer_signer_refusals_total",
            [
                #"code="offer_not_served""#: 3, #"code="not_an_object""#: 1, #"code="method_not_allowed""#: 1,
                #"code="not_found""#: 1, #"code="request_timeout""#: 1,
            ])
        let key = #"key="TESTKEY123""#
        expect(
            "offer_signer_signatures_total",
            [
                #"kind="promotional_offer",app="a",\#(key)"#: 4, #"kind="promotional_offer",app="b",\#(key)"#: 2,
                #"kind="promotional_offer_jws",app="b",\#(key)"#: 2,
                #"kind="introductory_offer_jws",app="a",\#(key)"#: 1,
                #"kind="advanced_commerce_jws",app="a",\#(key)"#: 1,
            ])
        for name in ["offer_signer_signing_seconds", "offer_signer_verifying_seconds"] {
            #expect(scrape[name + "_count"] == 10, "one for each signature")
            #expect(scrape[name + "_bucket{le=\"+Inf\"}"] == 10)
            #expect(try #require(scrape[name + "_sum"]) > 0)
        }
        expect("offer_signer_key_state", [#"\#(key),state="active""#: 1])
        #expect(scrape["offer_signer_ready"] == 1)
    }

    @Test("100,000 random requests and 200 apps add no time series")
    func closedSet() throws {
        let routes = try TestService()
        #expect(routes.post("/v1/promotional-offers", Self.offer("app.first")).status == 200)
        let before = Set(routes.scrape().values.keys)
        var random = SplitMix64(seed: 1)
        func word() -> String {
            String(
                (0..<Int.random(in: 0..<12, using: &random)).map { _ in
                    "abz/%.?\"\\{}=é\n".randomElement(using: &random) ?? "a"
                })
        }
        let known = routes.router.paths
        for number in 0..<100_000 {
            let path = number % 4 == 0 ? known[number / 4 % known.count] + word() : "/" + word()
            let method = number % 3 == 0 ? word() : ["GET", "POST", "HEAD"][number / 3 % 3]
            _ = routes.respond(
                HTTPRequest(
                    method: method, target: path, contentType: "application/json", authorization: word(),
                    body: Array(word().utf8)))
        }
        for number in 0..<200 {
            #expect(routes.post("/v1/promotional-offers", Self.offer("app.\(number)")).status == 200)
        }
        let after = routes.scrape()
        #expect(Set(after.values.keys) == before)
        #expect(after[#"offer_signer_signatures_total{kind="promotional_offer",app="other",key="TESTKEY123"}"#] == 201)
        #expect(after.sum(of: "offer_signer_requests_total") == 100_202, "each request is counted")
    }

    @Test("metrics never identify a customer, a caller or a transaction")
    func secrecy() throws {
        let caller = try Caller.test("marked-caller", [.sign, .metrics])
        let routes = try TestService(issuerIDs: IssuerIDs(ofAllApps: Fixtures.issuerID()), callers: [caller])
        let offer = #"""
            {"bundleID":"a","productID":"marked.product","offerID":"marked.offer","applicationUsername":"marked-user",
            "transactionID":"marked0000001"}
            """#
        let authorization = "Bearer token-of-marked-caller"
        let answer = routes.post("/v1/promotional-offers", offer, authorization: authorization)
        #expect(answer.status == 200)
        #expect(routes.post("/marked-path", offer, token: "marked-stranger").status == 404)
        let text = routes.get("/metrics", authorization: authorization).text
        #expect(text.contains("promotional_offer_jws"))
        #expect(!text.contains("marked"))
    }

    @Test("requests that were read before a page was begun share it; a later request gets a new one")
    func sharing() throws {
        let routes = try TestService()
        let together = (0..<64).map { _ in HTTPRequest(method: "GET", target: "/metrics") }
        // Each answer is counted, so two pages never agree.
        let pages = together.map { routes.respond($0) }
        #expect(Set(pages.map(\.text)).count == 1)
        let later = routes.get("/metrics")
        #expect(later.text.contains(#"offer_signer_requests_total{route="/metrics",status="200"} 64"#))
    }

    @Test("with callers configured, metrics need the metrics scope; they are served even under load")
    func scope() throws {
        let routes = try TestService(callers: [
            .test("all", [.sign, .explain, .metrics]), .test("signer", [.sign, .explain]),
        ])
        for (token, status) in [(nil, 401), ("strange", 401), ("token-of-signer", 403), ("token-of-all", 200)]
            as [(String?, Int)]
        {
            #expect(routes.get("/metrics", token: token, shedding: .all).status == status)
        }
        let answer = routes.get("/metrics", token: "token-of-all")
        #expect(answer.headers.first { $0.name == "Content-Type" }?.value == "text/plain; version=0.0.4; charset=utf-8")
        #expect(routes.post("/metrics", "{}").allow == ["GET", "HEAD"])
    }

    @Test("exceeded rate limits are counted by kind")
    func limited() throws {
        let routes = try TestService(limits: .with(\.customers, 0.001, 2))
        for _ in 0..<5 { _ = routes.post("/v1/promotional-offers", Self.offer()) }
        let scrape = routes.scrape()
        #expect(scrape[#"offer_signer_limited_total{who="customer"}"#] == 3)
        #expect(scrape.sum(of: "offer_signer_limited_total") == 3)
        #expect(scrape[#"offer_signer_refusals_total{code="rate_limited"}"#] == 3)
    }

    @Test("a failed self-verification is counted, and the key shows as out of service")
    func selfVerification() throws {
        let routes = try TestService(pair: StubKeyPair())
        #expect(routes.post("/v1/promotional-offers", Self.offer()).status == 503)
        let scrape = routes.scrape()
        #expect(scrape[#"offer_signer_self_verification_failures_total{key="TESTKEY123"}"#] == 1)
        #expect(scrape[#"offer_signer_key_state{key="TESTKEY123",state="out_of_service"}"#] == 1)
        #expect(scrape[#"offer_signer_key_state{key="TESTKEY123",state="active"}"#] == 0)
        #expect(scrape.sum(of: "offer_signer_signatures_total") == 0)
        #expect(scrape["offer_signer_ready"] == 0)
    }

    @Test("buckets are cumulative and include their upper bounds, and the last one includes everything")
    func buckets() throws {
        let scrape = try Self.histogram([1, 10_000, 10_001, 20_000, 999_999_999, 1_000_000_000, 5_000_000_000])
        let buckets = scrape.values.filter { $0.key.contains("_bucket{") }
        #expect(buckets.count == 20)
        let name = "offer_signer_signing_seconds"
        for (bound, count) in [("1e-05", 2), ("1.5e-05", 3), ("2e-05", 4), ("0.25", 4), ("1", 6), ("+Inf", 7)] {
            #expect(scrape["\(name)_bucket{le=\"\(bound)\"}"] == Double(count))
        }
        #expect(scrape[name + "_count"] == 7)
        #expect(abs((scrape[name + "_sum"] ?? 0) - 7.000_040_001) < 1e-9)
    }

    /// Records durations, in nanoseconds, and returns the exported histogram.
    private static func histogram(_ durations: [Int64]) throws -> Scrape {
        let registry = MetricRegistry()
        let metric = try #require(Metric.all.first { $0.name == "offer_signer_signing_seconds" })
        let histogram = registry.histogram(metric)
        for duration in durations { histogram.record(nanoseconds: duration) }
        var text = ExpositionText()
        text.begin(metric)
        registry.write(metric, to: &text)
        return Scrape(text.bytes)
    }

    @Test("four million concurrent increments from eight threads are all counted")
    func concurrent() async throws {
        let registry = MetricRegistry()
        let counted = try #require(Metric.all.first { $0.name == "offer_signer_audit_failures_total" })
        let measured = try #require(Metric.all.first { $0.name == "offer_signer_connections" })
        let (counter, gauge) = (registry.counter(counted), registry.gauge(measured))
        gauge.set(0)
        let perThread = 500_000
        let finished = NIOLockedValueBox(0)
        for _ in 0..<8 {
            // Other tests can occupy all but one thread of the task pool.
            Thread.detachNewThread {
                for _ in 0..<perThread {
                    counter.increment()
                    gauge.increment()
                }
                finished.withLockedValue { $0 += 1 }
            }
        }
        try await waitUntil { finished.withLockedValue { $0 } == 8 }
        var text = ExpositionText()
        for metric in Metric.all { registry.write(metric, to: &text) }
        let scrape = Scrape(text.bytes)
        #expect(scrape["offer_signer_audit_failures_total"] == Double(8 * perThread))
        #expect(scrape["offer_signer_connections"] == Double(8 * perThread))
    }

    @Test("labels are escaped, and numbers keep their value")
    func escaping() {
        var text = ExpositionText()
        for label in ["\"", "\\", "\n", "\"\\\n", "é{}=,"] { text.sample("m", ["a", "b"], [label, ""], 1) }
        for value in [0, -1, 0.5, 1e-5, 1e15, .infinity, -.infinity, .nan] { text.sample("m", [], [], value) }
        #expect(
            String(decoding: text.bytes, as: UTF8.self) == #"""
                m{a="\"",b=""} 1
                m{a="\\",b=""} 1
                m{a="\n",b=""} 1
                m{a="\"\\\n",b=""} 1
                m{a="é{}=,",b=""} 1
                m 0
                m -1
                m 0.5
                m 1e-05
                m 1000000000000000
                m +Inf
                m -Inf
                m NaN

                """#)
    }
}
