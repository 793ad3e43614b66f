import OfferConfiguration
import OfferCore
import OfferHTTP
import TestSupport
import Testing

@testable import OfferService

/// What browsers let web pages of other origins do.
@Suite("Web access")
struct WebAccessTests {
    private static let offer = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"u"}"#
    private static let page = "https://app.example.com"
    private static let webView = "capacitor://localhost"
    private static let appPaths = [
        "/offer", "/v1/advanced-commerce", "/v1/decisions", "/v1/explanations", "/v1/introductory-offers",
        "/v1/offers/events", "/v1/purchases", "/v1/promotional-offers",
    ]

    private func service(limits: Limits = Limits(), callers: [Caller] = []) throws -> TestService {
        let origins = try [Self.page, Self.webView].map { try #require(WebOrigin($0)) }
        return try TestService(callers: callers, limits: limits, webOrigins: Set(origins))
    }

    private func request(
        _ method: String, _ path: String, from origin: String?, peer: IPAddress? = nil, body: String = ""
    ) -> HTTPRequest {
        HTTPRequest(
            method: method, target: path, host: "localhost", contentType: body.isEmpty ? nil : "application/json",
            peer: peer, browser: BrowserHeaders(origin: origin), body: Array(body.utf8))
    }

    private func header(_ name: String, _ response: HTTPResponse) -> String? {
        response.headers.first { $0.name == name }?.value
    }

    @Test("a preflight request of a listed origin gets what it may send, on the routes for apps only")
    func preflight() throws {
        let service = try service(callers: [.test()])
        for path in service.router.paths {
            let response = service.respond(request("OPTIONS", path, from: Self.webView))
            let isForApps = Self.appPaths.contains(path)
            #expect(response.status == (isForApps ? 204 : 405), "\(path)")
            #expect(header("Access-Control-Allow-Origin", response) == (isForApps ? Self.webView : nil), "\(path)")
            guard isForApps else { continue }
            #expect(
                header("Access-Control-Allow-Methods", response) == (path == "/offer" ? "GET, POST" : "POST")
                    && header("Access-Control-Allow-Headers", response)
                        == "Authorization, Content-Type, Idempotency-Key"
                    && header("Vary", response) == "Origin" && response.body.isEmpty)
            #expect(header("Access-Control-Allow-Credentials", response) == nil)
        }
    }

    @Test(
        "an origin that is not listed gets no permission",
        arguments: [
            "https://app.example.com.evil.example", "https://evil.example", "http://app.example.com",
            "https://app.example.com:8443", "https://APP.example.com", "null", "", "*", "capacitor://localhost/",
        ])
    func otherOrigins(origin: String) throws {
        let service = try service()
        let preflight = service.respond(request("OPTIONS", "/offer", from: origin))
        let answer = service.respond(request("POST", "/offer", from: origin, body: Self.offer))
        #expect(preflight.status == 405 && answer.status == 200)
        for response in [preflight, answer] {
            #expect(!response.headers.contains { $0.name.hasPrefix("Access-Control-") })
        }
    }

    @Test("answers and refusals can be read, with the headers that clients need")
    func answers() async throws {
        let service = try service()
        for (path, body, status) in [
            ("/offer", Self.offer, 200), ("/offer", "{}", 400), ("/v1/explanations", "{}", 400),
            ("/v1/explanations", #"{"compactJWS":"a"}"#, 200),
        ] {
            let response = await service.respondLater(request("POST", path, from: Self.page, body: body))
            #expect(response.status == status, "\(path) \(body)")
            #expect(header("Access-Control-Allow-Origin", response) == Self.page)
            #expect(header("Access-Control-Expose-Headers", response) == "Date, Retry-After, X-Request-ID")
        }
        let withoutOrigin = service.respond(request("POST", "/offer", from: nil, body: Self.offer))
        #expect(withoutOrigin.status == 200 && header("Vary", withoutOrigin) == nil)
        let withoutToken = try self.service(callers: [.test()]).respond(
            request("POST", "/offer", from: Self.page, body: Self.offer))
        #expect(withoutToken.status == 401 && header("Access-Control-Allow-Origin", withoutToken) == Self.page)
    }

    @Test("preflight requests are counted, and the log names the origin to permit, unless it cannot be one")
    func counted() throws {
        let service = try service()
        for (origin, names) in [
            ("https://shop.example.com", "https://shop.example.com "), ("null", ""), ("a\nb", ""),
            ("https://" + String(repeating: "a", count: 100), ""),
        ] {
            #expect(service.respond(request("OPTIONS", "/offer", from: origin)).status == 405)
            let line = try #require(service.log.lines(with: "method_not_allowed").last)
            #expect(line.contains("the origin \(names)is not in SUBSCRIPTION_OFFERS_WEB_ORIGINS"), "\(line)")
        }
        for (path, origin) in [("/offer", Self.page), ("/offer", nil), ("/v1/customers/lookup", "https://a.example")] {
            _ = service.respond(request("OPTIONS", path, from: origin))
        }
        let scrape = service.scrape()
        #expect(scrape[#"offer_signer_preflights_total{outcome="permitted"}"#] == 1)
        #expect(scrape[#"offer_signer_preflights_total{outcome="refused"}"#] == 4)
    }

    @Test("preflight requests count against their address, and are shed first")
    func limits() throws {
        var limits = Limits()
        limits.addresses = RateLimit(perSecond: 1, burst: 2)
        let service = try service(limits: limits)
        let peer = try #require(IPAddress("192.0.2.7"))
        let statuses = (0..<3).map { _ in
            service.respond(request("OPTIONS", "/offer", from: Self.page, peer: peer)).status
        }
        #expect(statuses == [204, 204, 429])
        #expect(service.respond(request("OPTIONS", "/offer", from: Self.page), shedding: .strangers).status == 503)
    }

    @Test(
        "only complete origins can be configured",
        arguments: [
            ("https://app.example.com", true), ("http://localhost:8100", true), ("capacitor://localhost", true),
            ("ionic://localhost", true), ("https://[2001:db8::1]:8443", true), ("*", false), ("null", false),
            ("https://*.example.com", false), ("https://app.example.com/", false), ("https://App.example.com", false),
            ("app.example.com", false), ("https://app.example.com:443", false), ("https://user@example.com", false),
        ])
    func configuration(text: String, isValid: Bool) { #expect((WebOrigin(text) != nil) == isValid) }

    @Test(
        "only pages over plain HTTP from other machines are insecure",
        arguments: [
            ("http://app.example.com", true), ("http://192.0.2.7:8100", true), ("https://app.example.com", false),
            ("capacitor://localhost", false), ("http://localhost:8100", false), ("http://127.0.0.1:8100", false),
            ("http://[::1]:8100", false),
        ])
    func insecure(text: String, isInsecure: Bool) { #expect(WebOrigin(text)?.isInsecure == isInsecure) }
}
