import OfferConsole
import OfferCore
import OfferHTTP
import StoreTestSupport
import Testing

@testable import ConsoleService

@Suite("The console serves each role what it needs")
struct RolesTests {
    private static let roles = ConsoleRole.allCases.map(\.rawValue)

    /// The roles that may open each page, as the documentation says. `start` is open to every role.
    private static let expected: [String: Set<String>] = [
        "/grant": ["support"], "/grants": ["support", "marketing"], "/grants/approve": ["support", "marketing"],
        "/grants/withdraw": ["support", "marketing"],
        "/find": ["support"], "/customer": ["support"], "/customer.csv": ["support"],
        "/offers": ["support", "marketing", "operator"], "/offers.csv": ["support", "marketing", "operator"],
        "/lists": ["support", "marketing"], "/lists.csv": ["support", "marketing"],
        "/reports": ["marketing"], "/reports/offer": ["marketing"], "/reports/offer.csv": ["marketing"],
        "/reports/refresh": ["marketing"], "/reports/subscriptions": ["marketing"],
        "/reports/subscriptions.csv": ["marketing"], "/reports/subscriptions/refresh": ["marketing"],
        "/rules": ["marketing", "operator"], "/rules/trial": ["marketing", "operator"],
        "/rules/trial.csv": ["marketing", "operator"], "/rules/cancel": ["marketing", "operator"],
        "/alarms": ["operator"], "/alarms/acknowledge": ["operator"], "/health": ["operator"],
        "/deliveries": ["operator"], "/deliveries/retry": ["operator"],
        "/audit": ["support", "marketing", "operator", "auditor"],
    ]

    @Test("each role opens its pages and no others, and nobody opens them without a session")
    func matrix() async throws {
        let console = try await TestConsole()
        let routes = Console.routes(
            of: console.application, trials: try #require(console.trials), auditPath: console.auditPath)
        let guarded = routes.filter { $0.access != .anyone }
        #expect(Set(guarded.map(\.path.description)) == Set(Self.expected.keys))
        for role in Self.roles {
            let cookie = try await console.signIn([role], name: role)
            for route in guarded {
                let path = route.path.description
                let may = try #require(Self.expected[path]).contains(role)
                func ask(_ cookie: String?) async -> HTTPResponse {
                    route.isAct
                        ? await console.post(path, "", cookie: cookie) : await console.get(path, cookie: cookie)
                }
                // Without its fields, a page may be refused, but not for the role.
                #expect((await ask(cookie).status == 403) == !may, "\(role) \(path)")
                #expect(await ask(nil).location == "/sign-in", "\(path)")
            }
        }
    }

    @Test("a role that this version does not know opens nothing")
    func unknownRole() async throws {
        let console = try await TestConsole()
        let cookie = try await console.signIn(["root"])
        let acts = [
            "/alarms/acknowledge", "/deliveries/retry", "/grants/approve", "/grants/withdraw", "/reports/refresh",
            "/reports/subscriptions/refresh",
            "/rules/cancel",
        ]
        for path in Self.expected.keys where !acts.contains(path) {
            #expect(await console.get(path, cookie: cookie).status == 403, "\(path)")
        }
        #expect(await console.get("/", cookie: cookie).status == 403)
    }

    @Test("the start page leads each role to its first section")
    func start() async throws {
        let console = try await TestConsole()
        let places = ["support": "/find", "marketing": "/offers", "operator": "/offers", "auditor": "/audit"]
        for (role, place) in places {
            #expect(await console.get("/", cookie: try await console.signIn([role])).location == place)
        }
    }

    @Test("every page has the headers that keep scripts and other sites out")
    func headers() async throws {
        let console = try await TestConsole()
        let cookie = try await console.signIn(Self.roles)
        for path in [
            "/find", "/offers", "/offers.csv", "/lists", "/lists.csv", "/reports", "/grants", "/grant", "/rules",
            "/alarms", "/deliveries", "/health", "/audit", "/sign-in", "/nothing",
            "/customer", "/",
        ] {
            let response = await console.get(path, cookie: cookie)
            let policy = try #require(response.values(of: "Content-Security-Policy").first, "\(path)")
            #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe") && !policy.contains("script-src"))
            #expect(response.values(of: "X-Content-Type-Options") == ["nosniff"])
            #expect(response.values(of: "Cache-Control") == ["no-store"])
            #expect(response.values(of: "Strict-Transport-Security") == ["max-age=31536000"])
        }
    }

    @Test("a console without TLS does not ask browsers for TLS")
    func withoutTLS() async throws {
        let console = try await TestConsole(origin: "http://localhost")
        let response = await console.get("/sign-in", host: "localhost")
        #expect(response.status == 200 && response.values(of: "Strict-Transport-Security").isEmpty)
    }

    @Test(
        "the style sheet and the icon are sent once, and then confirmed",
        arguments: [("/console.css", "text/css; charset=utf-8"), ("/favicon.svg", "image/svg+xml")])
    func files(path: String, type: String) async throws {
        let console = try await TestConsole()
        let first = await console.get(path)
        #expect(first.status == 200 && first.values(of: "Content-Type") == [type] && !first.body.isEmpty)
        let tag = try #require(first.values(of: "ETag").first)
        for (known, status) in [
            (tag, 304), ("W/\(tag)", 304), ("\"other\", \(tag)", 304), ("\"other\"", 200), ("", 200),
        ] {
            let again = await console.respond(
                HTTPRequest(
                    method: "GET", target: path, host: "console.example", browser: BrowserHeaders(ifNoneMatch: known)))
            #expect(again.status == status, "\(known)")
            #expect(again.values(of: "ETag") == [tag] && again.body.isEmpty == (status == 304))
        }
    }
}
