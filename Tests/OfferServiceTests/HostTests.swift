import OfferCore
import OfferHTTP
import OfferService
import TestSupport
import Testing

/// The check of `Host` that keeps web pages away from whatever requires no token on loopback (DNS rebinding).
@Suite("Host")
struct HostTests {
    private static let offer = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"u"}"#

    private static func status(
        _ host: String?, _ path: String = "/offer", of routes: TestService, token: String? = nil
    ) -> Int {
        let isPost = path == "/offer"
        return routes.respond(
            HTTPRequest(
                method: isPost ? "POST" : "GET", target: path, host: host,
                contentType: isPost ? "application/json" : nil, authorization: token.map { "Bearer \($0)" },
                body: isPost ? Array(offer.utf8) : [])
        ).status
    }

    private static let strange = [
        "evil.example.com", "localhost.evil.example.com", "notlocalhost", "127.0.0.1.nip.io", "a", "", "localhost.",
        "127.1", "0x7f.0.0.1", "2130706433", "1.2.3.4.", "[1.2.3.4]", "::1", nil,
    ]

    @Test(
        "on loopback without callers, only localhost, names below it and IP addresses are served",
        arguments: [
            "localhost", "LOCALHOST", "app.localhost", "a.b.LocalHost", "127.0.0.1", "127.9.9.9", "192.0.2.1", "[::1]",
            "[2001:DB8::1]", "[::ffff:127.0.0.1]",
        ])
    func served(host: String) throws {
        let routes = try TestService(isOnLoopback: true)
        #expect(Self.status(host, of: routes) == 200)
        #expect(Self.status(host, "/metrics", of: routes) == 200)
        #expect(Self.status(host, "/nothing", of: routes) == 404)
    }

    @Test("any other host gets 421 on every path except those of health and notifications", arguments: strange)
    func refused(host: String?) throws {
        let routes = try TestService(isOnLoopback: true)
        for path in routes.router.paths + ["/nothing"] {
            let expected =
                path.hasPrefix("/health/")
                ? 200 : ["/v1/app-store-notifications", "/v1/retention-messages"].contains(path) ? 405 : 421
            #expect(Self.status(host, path, of: routes) == expected, "\(path)")
        }
        let answer = routes.get("/metrics", host: host)
        #expect(answer.json["code"] as? String == "misdirected_request")
        #expect(!routes.log.text.contains("offer signed"))
    }

    @Test("on the metrics listener on loopback, any other host gets 421 even with callers", arguments: strange)
    func metricsListener(host: String?) throws {
        for callers in [[], [try Caller.test()]] {
            let routes = try TestService(callers: callers, role: .metricsOnly, isOnLoopback: true)
            #expect(Self.status(host, "/metrics", of: routes) == 421)
            #expect(Self.status(host, "/nothing", of: routes) == 421)
            #expect(Self.status("localhost", "/metrics", of: routes) == 200)
            let elsewhere = try TestService(callers: callers, role: .metricsOnly, isOnLoopback: false)
            #expect(Self.status(host, "/metrics", of: elsewhere) == 200)
        }
    }

    @Test(
        "a health check for any other host shows no details, unless a token is required for them",
        arguments: strange + ["localhost", "127.0.0.1"])
    func health(host: String?) throws {
        let isThisMachine = host == "localhost" || host == "127.0.0.1"
        func showsDetails(_ callers: [Caller], _ role: ListenerRole, token: String? = nil) throws -> Bool {
            let routes = try TestService(callers: callers, role: role, isOnLoopback: true)
            let answer = routes.get("/health/ready", token: token, host: host)
            #expect(answer.status == 200 && answer.json["status"] != nil)
            #expect((answer.json["activeKeys"] != nil) == answer.text.contains("TESTKEY123"))
            return answer.json["activeKeys"] != nil
        }
        let caller = try Caller.test()
        #expect(try showsDetails([], .all) == isThisMachine)
        #expect(try showsDetails([], .metricsOnly) == isThisMachine)
        #expect(try showsDetails([caller], .metricsOnly) == isThisMachine)
        #expect(try showsDetails([caller], .all, token: "token-of-one"))
        #expect(try !showsDetails([caller], .all))
    }

    @Test("with callers, or on another address, the host does not matter", arguments: strange)
    func unlimited(host: String?) throws {
        let withCallers = try TestService(callers: [.test("one", [.sign])], isOnLoopback: true)
        #expect(Self.status(host, of: withCallers, token: "token-of-one") == 200)
        #expect(Self.status(host, of: withCallers) == 401)
        let elsewhere = try TestService(isOnLoopback: false)
        #expect(Self.status(host, of: elsewhere) == 200)
    }
}
