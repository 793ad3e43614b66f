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
        "/find": ["support"], "/customer": ["support"], "/offers": ["support", "marketing", "operator"],
        "/grant": ["support"], "/grants": ["support", "marketing"], "/grants/approve": ["support", "marketing"],
        "/grants/withdraw": ["support", "marketing"],
        "/alarms": ["operator"], "/alarms/acknowledge": ["operator"], "/health": ["operator"],
        "/audit": ["support", "marketing", "operator", "auditor"],
    ]

    @Test("each role opens its pages and no others, and nobody opens them without a session")
    func matrix() async throws {
        let console = try await TestConsole()
        let routes = Console.routes(of: console.application, auditPath: console.auditPath)
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
        let acts = ["/alarms/acknowledge", "/grants/approve", "/grants/withdraw"]
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
            "/find", "/offers", "/grants", "/grant", "/alarms", "/health", "/audit", "/sign-in", "/nothing",
            "/customer", "/",
        ] {
            let response = await console.get(path, cookie: cookie)
            let policy = try #require(response.values(of: "Content-Security-Policy").first, "\(path)")
            #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe") && !policy.contains("script-src"))
            #expect(response.values(of: "X-Content-Type-Options") == ["nosniff"])
            #expect(response.values(of: "Cache-Control") == ["no-store"])
        }
        let styles = await console.get("/console.css")
        #expect(styles.status == 200 && styles.values(of: "Content-Type") == ["text/css; charset=utf-8"])
    }
}
