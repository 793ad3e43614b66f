import OfferCore
import OfferEligibility
import OfferHTTP
import TestSupport
import Testing

@testable import OfferConfiguration

@Suite("Callers and catalogue")
struct CallerTests {
    private static let token = "ost_0123456789abcdef"

    private static func caller(
        scopes: Set<Caller.Scope> = Set(Caller.Scope.allCases), apps: [String]? = nil, expiry: Int64? = nil
    ) throws -> Caller {
        try .test("backend", scopes, apps: apps, token: token, expiry: expiry.map(Timestamp.init(milliseconds:)))
    }

    private static func routes(_ callers: [Caller], catalogue: Catalogue? = nil) throws -> TestService {
        try TestService(catalogue: catalogue, callers: callers)
    }

    private static func body(app: String = "a", product: String = "p", offer: String = "o") -> String {
        #"{"appBundleID":"\#(app)","productIdentifier":"\#(product)","offerID":"\#(offer)","applicationUsername":"u"}"#
    }

    @Test("a valid token gets a signature", arguments: ["Bearer \(token)", "bearer \(token)", "BEARER  \(token)"])
    func rightToken(credentials: String) throws {
        let routes = try Self.routes([Self.caller()])
        #expect(routes.post("/offer", Self.body(), authorization: credentials).status == 200)
    }

    @Test(
        "a missing or invalid token gets 401 with WWW-Authenticate before the body is parsed",
        arguments: [
            nil, "", "Bearer", "Bearer ", token, "Basic \(token)", "Bearer\t\(token)", "Bearer \(token.dropLast())",
            "Bearer \(token)0", "Bearer \(token) ", "Bearer \(token.uppercased())", "Bearer \(token),Bearer \(token)",
            "Bearer \u{0}", "Bearer ü",
        ])
    func wrongToken(credentials: String?) throws {
        let routes = try Self.routes([Self.caller()])
        for (path, body) in [("/offer", Self.body()), ("/v1/promotional-offers", "no json")] {
            let answer = routes.post(path, body, authorization: credentials)
            #expect(answer.status == 401)
            #expect(
                answer.json["code"] as? String == (credentials == nil ? "credentials_missing" : "credentials_refused"))
            #expect(answer.headers.contains { $0.name == "WWW-Authenticate" && $0.value.hasPrefix("Bearer") })
            #expect(!routes.log.text.contains(Self.token))
        }
        #expect(routes.get("/health/ready").status == 200, "orchestrators probe without a token")
        #expect(routes.get("/nothing").status == 404)
    }

    @Test("a token is valid until it expires")
    func expiry() throws {
        let now = Fixtures.timestamp.milliseconds
        for (expiry, status) in [(now + 1, 200), (now, 401), (now - 1, 401)] {
            let routes = try Self.routes([Self.caller(expiry: expiry)])
            #expect(routes.post("/offer", Self.body(), token: Self.token).status == status)
        }
    }

    @Test("a token without the sign scope or for other apps is refused")
    func scopesAndApps() throws {
        let explain = try Self.routes([Self.caller(scopes: [.explain, .metrics])])
        let refused = explain.post("/offer", Self.body(), token: Self.token)
        #expect(refused.status == 403 && refused.json["code"] as? String == "scope_missing")
        let ofB = try Self.routes([Self.caller(apps: ["b"])])
        #expect(ofB.post("/offer", Self.body(app: "a"), token: Self.token).status == 403)
        #expect(ofB.post("/offer", Self.body(app: "b"), token: Self.token).status == 200)
    }

    @Test("each kind of signature has its own scope", arguments: Caller.Scope.allCases)
    func scopesByKind(scope: Caller.Scope) throws {
        let routes = try Self.routes([Self.caller(scopes: [scope])])
        let needed: [(path: String, scope: Caller.Scope)] = [
            ("/offer", .sign), ("/v1/promotional-offers", .sign), ("/v1/introductory-offers", .introductory),
            ("/v1/advanced-commerce", .advancedCommerce), ("/v1/explanations", .explain),
        ]
        for endpoint in needed {
            // An empty request is refused for its fields once the caller is admitted.
            let answer = routes.post(endpoint.path, "{}", token: Self.token)
            let isAdmitted = endpoint.scope == scope
            #expect(answer.status == (isAdmitted ? 400 : 403), "\(endpoint.path)")
            let detail = answer.json["detail"] as? String ?? ""
            let isRefused = answer.json["code"] as? String == "scope_missing"
            #expect(isRefused != isAdmitted, "\(endpoint.path)")
            if isRefused { #expect(detail.contains(endpoint.scope.rawValue)) }
        }
        let scrape = routes.get("/metrics", token: Self.token)
        #expect(scrape.status == (scope == .metrics ? 200 : 403))
    }

    private static func catalogue() throws -> Catalogue {
        let text =
            "apps: [{bundleID: a.b, products: [{productID: pro, offers: [half]}, {productID: max, offers: [third]}]}]"
        return try #require(ConfigurationFile.read(Array(text.utf8), name: "c").file.catalogue)
    }

    @Test("offers in the catalogue are signed")
    func inCatalogue() throws {
        let routes = try Self.routes([], catalogue: Self.catalogue())
        #expect(routes.post("/offer", Self.body(app: "a.b", product: "pro", offer: "half")).status == 200)
    }

    @Test(
        "offers outside the catalogue all get the same refusal; the log gives the reason and the nearest match",
        arguments: [
            ("a.c", "pro", "half", "unknownApp: there is an app a.b"), ("A.b", "pro", "half", "there is an app a.b"),
            ("other", "pro", "half", "unknownApp"), ("a.b", "Pro", "half", "the app has a product pro"),
            ("a.b", "other", "half", "unknownProduct"), ("a.b", "pro", "halb", "the product has an offer half"),
            ("a.b", "pro", "third", "it is an offer of the product max"), ("a.b", "pro", "nothing", "unknownOffer"),
            ("a.b", "pro", "hal\u{66}\u{301}", "unknownOffer"),
        ])
    func notInCatalogue(app: String, product: String, offer: String, reason: String) throws {
        let routes = try Self.routes([], catalogue: Self.catalogue())
        let answer = routes.post("/offer", Self.body(app: app, product: product, offer: offer))
        #expect(answer.status == 403)
        #expect(answer.json["code"] as? String == "offer_not_served")
        #expect(answer.json["detail"] as? String == "This service does not sign this offer.")
        #expect(routes.log.text.contains(reason), "\(routes.log.text)")
    }
}
