import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OfferAudit
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferTelemetry
import ServiceLifecycle
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import ConsoleService
@testable import OfferConfiguration
@testable import OfferService
@testable import SubscriberSync

/// The console with a database in a temporary folder, without a socket. The time is day 10 of ``Sample``.
struct TestConsole {
    static let origin = "https://console.example"

    let folder: TemporaryFolder
    let store: SQLiteStore
    let application: Application
    let responder: any Responder
    private let services: [any Service]
    let log = RecordedLog()
    let auditPath: String
    private let clock = NIOLockedValueBox(Sample.day(10))

    /// - Parameters:
    ///   - yaml: the configuration file.
    ///   - provider: the identity provider; nil for sign-in links only.
    ///   - trail: the path of the audit trail; nil for a file in the temporary folder.
    init(
        _ yaml: String = Self.configuration, provider: ConsoleSettings.Provider? = nil, limits: Limits = Limits(),
        trail: String? = nil, origin: String = Self.origin
    ) async throws {
        let (file, problems) = ConfigurationFile.read(Array(yaml.utf8), name: "file")
        try #require(problems.isEmpty, "\(problems)")
        folder = try TemporaryFolder()
        let settings = SQLiteSettings(path: folder.path + "/subscribers.sqlite")
        store = try SQLiteStore(settings)
        let current = CurrentStore(
            StoreSettings(location: .sqlite(path: settings.path)), store: store, log: log.logger)
        let policy = CurrentPolicy(
            Policy(
                ring: KeyRing(active: KeyRing.Key(id: try Fixtures.keyID(), pair: try Fixtures.makeSigningKey())),
                catalogue: file.catalogue, issuerIDs: IssuerIDs(), callers: Callers([]), limits: limits,
                proxies: TrustedProxies()))
        let nonces = NIOLockedValueBox(SplitMix64(seed: 7))
        let sources = SystemInputs(
            now: { [clock] in clock.withLockedValue { $0 } }, uptime: { NIODeadline.uptimeNanoseconds(1_000_000_000) },
            makeNonce: { nonces.withLockedValue { Nonce(using: &$0) } })
        var dependencies = Application.Dependencies(policy: policy, sources: sources, log: log.logger)
        // The tests occupy every core, so an idle-priority thread can wait for minutes.
        dependencies.front.searchWait = .seconds(3600)
        dependencies.subscribers.store = current
        auditPath = trail ?? folder.path + "/audit.jsonl"
        dependencies.safeguards.trail = try await AuditTrail.open(
            AuditSettings(
                path: auditPath, isSynced: false, rotatesAtBytes: nil, key: Secret("0123456789abcdef"), chain: .sha256,
                addresses: .off),
            now: sources.now, readiness: dependencies.telemetry.readiness,
            metrics: dependencies.telemetry.metrics.audit, log: log.logger)
        application = Application(dependencies)
        let origin = try #require(ConsoleOrigin(origin))
        (responder, services) = try Console.make(
            for: application,
            ConsoleSettings(address: ListeningAddress(host: "127.0.0.1", port: 0), origin: origin, provider: provider),
            auditPath: auditPath)
    }

    /// The trials of rules, which run only while a test runs them.
    var trials: RulesTrials? { services.compactMap { $0 as? RulesTrials }.first }

    /// Closes the client of the identity provider.
    func close() async { for case let client as ProviderClient in services { await client.close() } }

    static let configuration = """
        apps:
          - bundleID: com.example.app
            appAppleID: 1234567890
            products:
              - productID: monthly
                offers:
                  - plain
                  - {offerID: stay, rule: leaving, limits: {perCustomer: {count: 1}, total: 500}}
        rules:
          leaving: {subscription: {status: active, autoRenew: off}}
        """

    var now: Timestamp { clock.withLockedValue { $0 } }

    /// Everything that the database stores for an export: neither sessions nor links.
    func records() async throws -> [String] {
        let lines = NIOLockedValueBox<[String]>([])
        try await store.forEachRecord { record throws(StoreError) in
            lines.withLockedValue { $0.append(String(decoding: record.line, as: UTF8.self)) }
        }
        return lines.withLockedValue { $0.sorted() }
    }

    func setTime(_ time: Timestamp) { clock.withLockedValue { $0 = time } }

    /// The lines of the audit trail about acts in the console, without their hashes.
    func auditLines() throws -> [String] {
        try String(contentsOfFile: auditPath, encoding: .utf8).split(separator: "\n").map(String.init)
            .filter { $0.contains(#""caller":"console""#) }
    }
}

// MARK: Requests

extension TestConsole {
    func get(_ target: String, cookie: String? = nil, host: String = "console.example") async -> HTTPResponse {
        await respond(
            HTTPRequest(
                method: "GET", target: target, host: host, browser: BrowserHeaders(cookies: [cookie].compactMap(\.self))
            ))
    }

    /// Sends a form as a browser does.
    func post(
        _ path: String, _ form: String, cookie: String? = nil, site: String? = "same-origin", origin: String? = origin,
        contentType: String? = "application/x-www-form-urlencoded"
    ) async -> HTTPResponse {
        await respond(
            HTTPRequest(
                method: "POST", target: path, host: "console.example", contentType: contentType,
                browser: BrowserHeaders(cookies: [cookie].compactMap(\.self), fetchSite: site, origin: origin),
                body: Array(form.utf8)))
    }

    /// Sends a form with files as a browser does.
    func upload(_ path: String, _ fields: KeyValuePairs<String, String>, cookie: String) async -> HTTPResponse {
        let boundary = "----WebKitFormBoundary7MA4YWxkTrZu0gW"
        let parts = fields.map { name, value in
            let file = name == "file" ? "; filename=\"rules.yaml\"\r\nContent-Type: application/yaml" : ""
            return "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\(file)\r\n\r\n\(value)\r\n"
        }
        return await post(
            path, parts.joined() + "--\(boundary)--\r\n", cookie: cookie,
            contentType: "multipart/form-data; boundary=\(boundary)")
    }

    func respond(_ request: HTTPRequest, shedding: LoadShedding = .none) async -> HTTPResponse {
        switch responder.reply(to: request, shedding: shedding) {
        case .now(let response): return response
        case .after(_, let response): return response(true)
        case .later(let work, _, _): return await work()()
        }
    }

    /// Returns a new link's address, without the origin.
    func link(_ roles: [String], name: String = "Ada") async throws -> String {
        let token = try ConsoleToken()
        try await store.add(
            SignInLink(
                digest: token.digest(), account: ConsoleAccount(name: name, subject: nil, roles: roles),
                expiresAt: now + SignInLink.time))
        return "/sign-in/link?token=\(token.text)"
    }

    /// Begins a session without signing in, and returns the cookie.
    func begin(_ roles: [String]) async throws -> String {
        let token = try ConsoleToken()
        try await store.begin(
            ConsoleSession(
                digest: token.digest(), account: ConsoleAccount(name: "Ada", subject: nil, roles: roles),
                startedAt: now, seenAt: now))
        return "__Host-console=\(token.text)"
    }

    /// Signs a person in, and returns the cookie.
    func signIn(_ roles: [String], name: String = "Ada") async throws -> String {
        let link = try await link(roles, name: name)
        let response = await post("/sign-in/link", String(link.dropFirst("/sign-in/link?".count)))
        let cookie = try #require(response.values(of: "Set-Cookie").first)
        return String(cookie.prefix { $0 != ";" })
    }
}

extension HTTPResponse {
    func values(of name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    var location: String? { values(of: "Location").first }

    var text: String { String(decoding: body, as: UTF8.self) }
}
