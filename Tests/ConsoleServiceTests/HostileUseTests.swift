import OfferConsole
import OfferCore
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import Testing

@testable import ConsoleService

@Suite("Hostile use of the console")
struct HostileUseTests {
    private static let configuration = TestConsole.configuration.replacing(
        "    products:", with: "    grants: {dailyBudget: 99}\n    products:")

    /// Values with which each page is found, so that a bad one is all that is wrong.
    private static let good = [
        "app": "com.example.app", "environment": "Production", "kind": "originalTransactionID", "id": "9000000000001",
        "product": "monthly", "offer": "stay", "reason": "goodwill", "days": "14", "table": "timeline",
        "q": "9000000000001",
        "offset": "60", "return": "/find", "number": "1", "note": "a note", "grant": "1", "text": "apps: []",
    ]

    private static let hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&\u{202E}\u{5D0}"

    private static func encoded(_ text: String) -> String {
        // Huge texts are letters alone, and escaping them would take long.
        text.utf8.count > 1000 ? text : text.utf8.map { "%" + String(UInt16($0) + 256, radix: 16).suffix(2) }.joined()
    }

    /// Sends a page or an act with a bad value in one field.
    private static func ask(
        _ console: TestConsole, _ route: ConsoleRoute, _ bad: String, _ value: String, _ cookie: String
    ) async -> HTTPResponse {
        let path = route.path.description
        let fields = (route.fields ?? []).map(\.name).compactMap { name -> (String, String)? in
            name == bad ? (name, value) : good[name].map { (name, $0) }
        }
        if route.maximumUploadBytes != nil {
            // A browser sends all fields of this form.
            return await console.upload(
                path, ["text": bad == "do" ? "apps: []" : value, "do": bad == "do" ? value : "check"], cookie: cookie)
        }
        let form = fields.map { "\($0)=\(encoded($1))" }.joined(separator: "&")
        return route.isAct
            ? await console.post(path, form, cookie: cookie) : await console.get("\(path)?\(form)", cookie: cookie)
    }

    @Test("hostile and huge texts in any field of any page or act change nothing else, and are shown as text")
    func everyField() async throws {
        let console = try await TestConsole(Self.configuration)
        let transaction = Sample.transaction("9000000000001", of: "9000000000001", 0, 30)
        try await console.store.merge([transaction], in: Sample.production)
        let roles = ["support", "marketing", "operator", "auditor"]
        let routes = Console.routes(
            of: console.application, trials: try #require(console.trials), auditPath: console.auditPath)
        let huge = String(repeating: "a", count: 1_000_000)
        var count = 0
        for route in routes {
            for field in route.fields ?? [] {
                let (name, label) = (field.name, "\(route.path) \(field.name)")
                // Some acts end the session.
                let cookie = try await console.signIn(roles)
                let shown = await Self.ask(console, route, name, Self.hostile, cookie)
                #expect(shown.status < 500, "\(label)")
                let isPage = shown.values(of: "Content-Type").allSatisfy { $0.hasPrefix("text/html") }
                let raw = ["<script", "<img", "\u{202E}"].filter { shown.text.contains($0) }
                #expect(raw == [] || !isPage, "\(label) \(raw)")
                let isElsewhere = shown.location.map { !$0.hasPrefix("/") || $0.hasPrefix("//") } ?? false
                #expect(!isElsewhere, "\(label) \(shown.location ?? "")")
                let refused = await Self.ask(console, route, name, huge, cookie)
                #expect((400..<500).contains(refused.status), "\(label) \(refused.status)")
                #expect(refused.text.utf8.count < 1_200_000, "\(label)")
                count += 1
            }
        }
        #expect(count > 40)
    }

    @Test("who has no session is limited by address, on every page, and a session is not")
    func rateLimit() async throws {
        var limits = Limits()
        limits.addresses = RateLimit(perSecond: 1, burst: 3)
        let console = try await TestConsole(limits: limits)
        let cookie = try await console.signIn(["support"])
        let link = try await console.link(["support"], name: "Grace")
        let token = String(link.dropFirst("/sign-in/link?".count))
        func ask(_ method: String, _ target: String, _ peer: String, _ cookie: String? = nil) async -> HTTPResponse {
            await console.respond(
                HTTPRequest(
                    method: method, target: target, host: "console.example",
                    contentType: method == "POST" ? "application/x-www-form-urlencoded" : nil, peer: IPAddress(peer),
                    browser: BrowserHeaders(cookies: [cookie].compactMap(\.self), fetchSite: "same-origin"),
                    body: method == "POST" ? Array(token.utf8) : []))
        }
        let guess = "/sign-in/link?token=" + String(repeating: "A", count: 43)
        for target in [guess, "/find", "/nothing"] { #expect(await ask("GET", target, "192.0.2.1").status != 429) }
        for (method, target) in [("GET", guess), ("GET", "/sign-in"), ("GET", "/find"), ("POST", "/sign-in/link")] {
            let refused = await ask(method, target, "192.0.2.1")
            #expect(refused.status == 429 && (refused.retryAfter ?? 0) > 0, "\(method) \(target)")
            #expect(refused.values(of: "Set-Cookie").isEmpty, "the right token of another person is refused too")
        }
        for _ in 0..<9 { #expect(await ask("GET", "/find", "192.0.2.1", cookie).status == 200) }
        let elsewhere = await ask("POST", "/sign-in/link", "192.0.2.2")
        #expect(elsewhere.values(of: "Set-Cookie").count == 1, "from another address, the link still works")
    }
}
