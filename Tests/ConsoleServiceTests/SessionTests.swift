import OfferConfiguration
import OfferConsole
import OfferCore
import OfferHTTP
import OfferTelemetry
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import ConsoleService
@testable import OfferService

@Suite("Signing in to the console")
struct SessionTests {
    @Test("a link shows a page, signs in once, and its session has a token of its own")
    func link() async throws {
        let console = try await TestConsole()
        let link = try await console.link(["support"])
        for _ in 0..<2 {
            let page = await console.get(link)
            #expect(page.status == 200 && page.text.contains("Sign in as") && page.values(of: "Set-Cookie").isEmpty)
        }
        let form = String(link.dropFirst("/sign-in/link?".count))
        let answers = await withTaskGroup(of: HTTPResponse.self) { group in
            for _ in 0..<8 { group.addTask { await console.post("/sign-in/link", form) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let cookies = answers.flatMap { $0.values(of: "Set-Cookie") }
        #expect(cookies.count == 1, "of eight at once, one is signed in")
        let cookie = try #require(cookies.first)
        #expect(cookie.hasPrefix("__Host-console="))
        #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Lax; Secure"))
        #expect(!cookie.contains(form.dropFirst("token=".count)))
        #expect(answers.filter { $0.location == "/sign-in?reason=bad_link" }.count == 7)
        // The line of a refusal is written after the answer.
        try await waitUntil {
            let lines = try console.auditLines().filter { $0.contains("console_sign_in") }
            let refused = lines.count { $0.contains(#""outcome":"link_used""#) }
            return lines.count { $0.contains(#""outcome":"accepted""#) } == refused + 1
        }
        #expect(await console.get(link).location == "/sign-in?reason=bad_link")
        #expect(await console.get("/find", cookie: String(cookie.prefix { $0 != ";" })).status == 200)
    }

    @Test("a link is over after five minutes")
    func oldLink() async throws {
        let console = try await TestConsole()
        let link = try await console.link(["support"])
        console.setTime(console.now + .seconds(300))
        let answer = await console.post("/sign-in/link", String(link.dropFirst("/sign-in/link?".count)))
        #expect(answer.location == "/sign-in?reason=bad_link" && answer.values(of: "Set-Cookie").isEmpty)
    }

    @Test("stale, stolen, doubled and made-up cookies open nothing")
    func badCookies() async throws {
        let console = try await TestConsole()
        let cookie = try await console.signIn(["support"])
        let other = try await console.signIn(["support"], name: "Grace")
        #expect(await console.get("/find", cookie: cookie).status == 200)
        let made = "__Host-console=" + String(repeating: "A", count: 43)
        let bad = [
            "\(cookie); \(other)", "\(cookie); \(cookie)", made, "__Host-console=", "__Host-console=x",
            cookie.replacing("__Host-console", with: "console"), cookie + "A",
        ]
        for bad in bad { #expect(await console.get("/find", cookie: bad).location == "/sign-in", "\(bad)") }
        console.setTime(console.now + .seconds(1800))
        #expect(await console.get("/find", cookie: cookie).location == "/sign-in?reason=expired")
        #expect(await console.get("/sign-in", cookie: cookie).text.contains("Sign out") == false)
        console.setTime(console.now - .seconds(1))
        #expect(await console.post("/sign-out", "", cookie: cookie).location == "/sign-in?reason=signed_out")
        #expect(await console.get("/find", cookie: cookie).location == "/sign-in?reason=ended", "a stolen copy")
        _ = try await console.store.endSessions(of: "Grace", at: console.now)
        #expect(await console.get("/find", cookie: other).location == "/sign-in?reason=ended")
    }

    @Test("a form counts only if a page of the console sent it")
    func forms() async throws {
        let console = try await TestConsole()
        let cookie = try await console.signIn(["support"])
        let senders: [(String?, String?)] = [
            ("cross-site", TestConsole.origin), ("same-site", TestConsole.origin), ("none", TestConsole.origin),
            ("", TestConsole.origin), (nil, nil), (nil, "null"), (nil, "https://console.example.evil"),
            (nil, "http://console.example"), (nil, ""), ("cross-site", nil),
        ]
        for (site, origin) in senders {
            let answer = await console.post("/sign-out", "", cookie: cookie, site: site, origin: origin)
            #expect(answer.status == 403, "\(site ?? "-") \(origin ?? "-")")
            #expect(answer.values(of: "Set-Cookie").isEmpty)
        }
        #expect(await console.get("/find", cookie: cookie).status == 200, "the session goes on")
        #expect(await console.post("/sign-out", "", cookie: cookie, site: nil).status == 303, "a browser of 2019")
    }

    @Test("the choice of the offset returns to a page of the console, and to no other site")
    func clock() async throws {
        let console = try await TestConsole()
        let cookie = try await console.signIn(["support"])
        let places = [
            "/find?q=a%20b%26c&app=d": "/find?q=a%20b%26c&app=d", "/offers": "/offers", "//evil.example/": "/",
            "https://evil.example/": "/", "/\\evil.example": "/", "/find?x=1": "/", "/sign-out": "/", "": "/",
            "/find\r\nSet-Cookie: a=1": "/", "javascript:alert(1)": "/", "/alarms/acknowledge": "/",
        ]
        for (text, place) in places {
            let encoded = text.utf8.map { "%" + String(UInt16($0) + 256, radix: 16).suffix(2) }.joined()
            let answer = await console.post("/clock", "offset=60&return=\(encoded)", cookie: cookie)
            #expect(answer.location == place, "\(text)")
            #expect(answer.values(of: "Set-Cookie").first?.hasPrefix("__Host-console-clock=60;") == true)
        }
        #expect(await console.post("/clock", "offset=61&return=/", cookie: cookie).status == 400)
        let page = await console.get("/find", cookie: cookie + "; __Host-console-clock=60")
        #expect(page.text.contains("Times are in UTC+1."))
    }

    @Test("a request for another host, another method or another address gets a page that says so")
    func addresses() async throws {
        let console = try await TestConsole()
        #expect(await console.get("/sign-in", host: "evil.example").status == 421)
        #expect(await console.get("/sign-in", host: "CONSOLE.example").status == 200)
        #expect(await console.get("/sign-out").status == 405)
        #expect(await console.post("/find", "").status == 405)
        #expect(await console.get("/nothing").status == 404)
        let put = HTTPRequest(method: "PUT", target: "/find", host: "console.example")
        #expect(await console.respond(put).status == 405)
        let busy = HTTPRequest(method: "GET", target: "/sign-in", host: "console.example")
        #expect(await console.respond(busy, shedding: .all).status == 503)
    }

    @Test("nobody signs in, and nothing is shown, while the audit trail cannot be written")
    func brokenTrail() async throws {
        let console = try await TestConsole(trail: "/dev/full")
        let cookie = try await console.begin(["support", "operator", "auditor"])
        try await console.store.merge([Sample.transaction("7", of: "7")], in: Sample.production)
        let customer = "/customer?app=com.example.app&environment=Production&kind=originalTransactionID&id=7"
        for page in [customer, "/find?q=7", "/audit"] {
            let refused = await console.get(page, cookie: cookie)
            #expect(refused.status == 503 && !refused.text.contains("monthly"), "\(page)")
        }
        let link = try await console.link(["support"], name: "Grace")
        let answer = await console.post("/sign-in/link", String(link.dropFirst("/sign-in/link?".count)))
        #expect(answer.status == 503 && answer.values(of: "Set-Cookie").isEmpty)
        #expect(await console.get(link).status == 200, "the link is not used up")
        #expect(await console.get("/health", cookie: cookie).text.contains("failed"), "an operator sees why")
        #expect(await console.post("/sign-out", "", cookie: cookie).location == "/sign-in?reason=signed_out")
        #expect(await console.get("/offers", cookie: cookie).location == "/sign-in?reason=ended")
    }

    @Test("sign-ins are counted by their outcome")
    func counts() async throws {
        let console = try await TestConsole()
        func count(_ outcome: String) -> String? {
            var text = ExpositionText()
            console.application.metrics.write(.consoleSignIns, to: &text)
            let line = String(decoding: text.bytes, as: UTF8.self).split(separator: "\n").first {
                $0.contains("way=\"link\",outcome=\"\(outcome)\"")
            }
            return line?.split(separator: " ").last.map(String.init)
        }
        #expect(count("accepted") == "0" && count("refused") == "0" && count("failed") == "0")
        let link = try await console.link(["support"])
        let form = String(link.dropFirst("/sign-in/link?".count))
        #expect(await console.post("/sign-in/link", form).status == 303)
        #expect(count("accepted") == "1" && count("refused") == "0")
        _ = await console.post("/sign-in/link", form)
        _ = await console.post("/sign-in/link", "token=guess")
        _ = await console.get(link)
        #expect(count("accepted") == "1" && count("refused") == "3" && count("failed") == "0")
        let broken = try await TestConsole(trail: "/dev/full")
        let other = try await broken.link(["support"])
        _ = await broken.post("/sign-in/link", String(other.dropFirst("/sign-in/link?".count)))
        var text = ExpositionText()
        broken.application.metrics.write(.consoleSignIns, to: &text)
        #expect(String(decoding: text.bytes, as: UTF8.self).contains("way=\"link\",outcome=\"failed\"} 1\n"))
    }

    @Test("an operator sees since when each key has its state, and its last signature")
    func keys() async throws {
        let console = try await TestConsole()
        let cookie = try await console.signIn(["operator"])
        let page = await console.get("/health", cookie: cookie)
        #expect(page.text.contains("or longer</span>") && page.text.contains("none since the start"))
        let id = try #require(console.application.policy.snapshot.ring.keyIDs.first)
        let app = try BundleID(utf8: Array("com.example.app".utf8))
        let policy = console.application.policy.snapshot
        console.application.metrics.signed(.promotionalOffer, for: app, with: id, at: Sample.day(9), under: policy)
        console.application.metrics.signed(.promotionalOffer, for: app, with: id, at: Sample.day(8), under: policy)
        #expect(console.application.metrics.lastSignatures == [id: Sample.day(9)])
        #expect(await console.get("/health", cookie: cookie).text.contains("(1 day ago)"))
    }
}
