import Foundation
import OfferAudit
import OfferService
import OfferTelemetry
import TestSupport
import Testing

/// The metrics of the running service, the alerts and the dashboard, checked with promtool.
@Suite("Prometheus", .serialized, .timeLimit(.minutes(5)))
struct PrometheusTests {
    private static let repository = MarkdownBlock.repository

    /// Runs promtool, which the script downloads if it is missing. If the download fails, the tests fail with its message.
    private static func promtool(_ arguments: String..., input: [UInt8] = []) throws -> Command.Outcome {
        try Command.run(
            repository.appending(path: "scripts/promtool").path, arguments, input: input, directory: repository)
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: repository.appending(path: path), encoding: .utf8)
    }

    // MARK: The service

    @Test("promtool accepts the service's metrics without warnings, and the metrics count the requests")
    func running() async throws {
        let service = try RunningService(
            environment: ["SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS": "named.app=\(RunningService.keyID)"])
        try await Connection.open(port: service.port) { (connection: inout Connection) async throws in
            for _ in 0..<7 { #expect(try await connection.post("/offer", json: BadRequest.goodBody)?.status == 200) }
            let named = #"{"appBundleID":"named.app","productID":"p","offerID":"o","applicationUsername":""}"#
            for _ in 0..<2 { #expect(try await connection.post("/offer", json: named)?.status == 200) }
            #expect(try await connection.post("/offer", json: "{}")?.status == 400)
            #expect(try await connection.get("/nothing")?.status == 404)
        }
        try await Connection.open(port: service.port) { (connection: inout Connection) async throws in
            try await connection.send("nonsense\r\n\r\n")
            #expect(try await connection.receive()?.status == 400)
        }
        let answer = try await service.get("/metrics")
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        let outcome = try Self.promtool("check", "metrics", input: answer.body)
        #expect(outcome.status == 0 && outcome.standardError == "", "\(outcome.standardOutput)\(outcome.standardError)")

        let scrape = Scrape(answer.body)
        for (series, value) in [
            #"offer_signer_requests_total{route="/offer",status="200"}"#: 9,
            #"offer_signer_requests_total{route="/offer",status="400"}"#: 1,
            #"offer_signer_requests_total{route="other",status="404"}"#: 1,
            #"offer_signer_requests_total{route="none",status="400"}"#: 1,
            #"offer_signer_signatures_total{kind="promotional_offer",app="other",key="TESTKEY123"}"#: 7,
            #"offer_signer_signatures_total{kind="promotional_offer",app="named.app",key="TESTKEY123"}"#: 2,
            #"offer_signer_refusals_total{code="malformed_http"}"#: 1, "offer_signer_signing_seconds_count": 9,
        ] {
            #expect(scrape[series] == Double(value), "\(series)")
        }
        #expect(try #require(scrape["offer_signer_connections"]) >= 1)
        #expect(try #require(scrape["process_cpu_seconds_total"]) > 0)
        #expect(try #require(scrape["process_start_time_seconds"]) > Date.now.timeIntervalSince1970 - 3600)
        #expect(try #require(scrape["process_start_time_seconds"]) < Date.now.timeIntervalSince1970 + 10)
        let resident = try Double(service.residentKilobytes) * 1024
        #expect(abs((scrape["process_resident_memory_bytes"] ?? 0) - resident) < resident / 5)
        let descriptors = try Double(service.descriptorCount)
        #expect(abs((scrape["process_open_fds"] ?? 0) - descriptors) <= 3)
        #expect(scrape.values.keys.contains { $0.hasPrefix("offer_signer_build_info{version=\"") })
        #expect(Set(scrape.names).isSubset(of: Metric.all.map(\.name)))
        // These are absent without TLS, an audit trail, a database or a token, or before their first event.
        #expect(
            Set(Metric.all.map(\.name)).subtracting(scrape.names) == [
                "offer_signer_unbound_jws_total", "offer_signer_self_verification_failures_total",
                "offer_signer_token_waiting",
                "offer_signer_certificate_expiry_timestamp_seconds", "offer_signer_audit_writable",
                "offer_signer_audit_lag_entries", "offer_signer_audit_head_line", "offer_signer_audit_head_hash",
                "offer_signer_notification_types_total", "offer_signer_last_notification_timestamp_seconds",
                "offer_signer_notification_lag_seconds", "offer_signer_subscriptions", "offer_signer_store_up",
                "offer_signer_store_changes_total", "offer_signer_store_commits_total",
                "offer_signer_store_round_trips_total", "offer_signer_store_retries_total",
                "offer_signer_forwards_total",
                "offer_signer_app_store_connect_requests_total", "offer_signer_catalogue_findings",
                "offer_signer_catalogue_read_timestamp_seconds",
                "offer_signer_forwards_pending", "offer_signer_forwards_dead",
                "offer_signer_oldest_forward_timestamp_seconds", "offer_signer_oldest_review_timestamp_seconds",
                "offer_signer_app_store_requests_total",
                "offer_signer_recovered_until_timestamp_seconds", "offer_signer_subscriptions_due",
                "offer_signer_decisions_total", "offer_signer_reservations_total", "offer_signer_redemptions_total",
                "offer_signer_exposures_total", "offer_signer_keyed_requests_total", "offer_signer_offer_events_total",
                "offer_signer_redemption_delay_seconds_total", "offer_signer_unexplained_redemptions",
                "offer_signer_retention_answers_total", "offer_signer_retention_records_total",
            ])
        #expect(service.stop() == 0)
    }

    @Test("a separate metrics address serves only metrics and health, without a token")
    func ownAddress() async throws {
        let service = try RunningService(
            arguments: ["--metrics-address", "127.0.0.1:0"],
            environment: ["SUBSCRIPTION_OFFERS_API_TOKENS": "backend=marked-token-of-backend"])
        let port = try #require(try service.metricsPort)
        let authorization = "Authorization: Bearer marked-token-of-backend\r\n"
        #expect(try await service.get("/metrics", headers: authorization).status == 404)
        let answer = try await service.get("/metrics", port: port)
        #expect(answer.status == 200)
        #expect(!answer.text.contains("marked"))
        try await Connection.open(port: port) { (connection: inout Connection) async throws in
            #expect(try await connection.get("/health/live")?.status == 200)
            #expect(try await connection.get("/health/ready")?.status == 200)
            #expect(try await connection.get("/openapi.json")?.status == 404)
            let offer = try await connection.post("/offer", json: BadRequest.goodBody, headers: authorization)
            #expect(offer?.status == 404)
        }
        #expect(try await service.post("/offer", BadRequest.goodBody, headers: authorization).status == 200)

        // More connections than the metrics address keeps open do not affect connections for offers.
        try await Connection.open(port: service.port) { ofOffers in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<100 {
                    group.addTask { try await Connection.open(port: port) { _ = try await $0.get("/metrics") } }
                }
                try await group.waitForAll()
            }
            let answer = try await ofOffers.post("/offer", json: BadRequest.goodBody, headers: authorization)
            #expect(answer?.status == 200)
        }
        // An idle connection to the metrics address does not delay shutdown.
        try await Connection.open(port: port) { (connection: inout Connection) async throws in
            #expect(try await connection.get("/metrics")?.status == 200)
            service.terminate()
            #expect(try await connection.isAtEnd)
        }
        #expect(service.stop() == 0)
    }

    @Test("beside TLS, the metrics address uses plain HTTP and reports certificate expiry and failed handshakes")
    func besideTLS() async throws {
        let pair = try CertificatePair()
        let service = try RunningService(arguments: pair.arguments + ["--metrics-address", "127.0.0.1:0"])
        let port = try #require(try service.metricsPort)
        #expect(try pair.curl([], path: "/health/live", of: service) == #"{"status":"live"}"#)
        try await Connection.open(port: service.port) { connection in
            try await connection.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = try await connection.isAtEnd
        }
        try await waitUntil {
            Scrape(try await service.get("/metrics", port: port).body)["offer_signer_tls_handshake_failures_total"] == 1
        }
        let scrape = Scrape(try await service.get("/metrics", port: port).body)
        #expect(scrape["offer_signer_tls_handshake_failures_total"] == 1, "the successful handshake is not counted")
        let expiry = scrape["offer_signer_certificate_expiry_timestamp_seconds"] ?? 0
        #expect(abs(expiry - Date.now.timeIntervalSince1970 - 90 * 86400) < 86400)
        #expect(service.stop() == 0)
    }

    @Test("an unusable metrics address prevents startup, and the error names it")
    func addressInUse() throws {
        let service = try RunningService()
        let outcome = try Command.runOfferSigner(
            ["serve", "--keys-dir", service.keys.path, "--key-id", RunningService.keyID, "--port", "0"] + [
                "--metrics-address", "127.0.0.1:\(service.port)",
            ])
        #expect(outcome.status == 1)
        #expect(outcome.standardOutput == "")
        #expect(outcome.standardError.contains("error: cannot listen on 127.0.0.1:\(service.port)"))
        #expect(outcome.standardError.contains("--metrics-address"))
    }

    @Test("reloads are counted as applied or refused, and each key's state is shown")
    func reloads() async throws {
        let service = try RunningService()
        func scrape() async throws -> Scrape { Scrape(try await service.get("/metrics").body) }
        let (applied, refused) = (
            #"offer_signer_ring_reloads_total{outcome="applied"}"#,
            #"offer_signer_ring_reloads_total{outcome="refused"}"#
        )
        let before = try await scrape()
        #expect((before[applied], before[refused]) == (0, 0))
        try service.reload(keyID: "NOSUCHKEY1")
        try await waitUntil { try await scrape()[refused] == 1 }
        let degraded = try await scrape()
        #expect((degraded[applied], degraded[refused]) == (0, 1))
        #expect(degraded["offer_signer_setup_problems"] == 2, "one of them is that no caller is configured")
        #expect(degraded["offer_signer_ready"] == 1)
        try service.reload("SUBSCRIPTION_OFFERS_BEHIND_PROXY=perhaps")
        try await waitUntil { try await scrape()[refused] == 2 }
        try service.reload()
        try await waitUntil { try await scrape()[applied] == 1 }
        let after = try await scrape()
        #expect((after[applied], after[refused]) == (1, 2))
        #expect(after["offer_signer_setup_problems"] == 1)
        for (state, value) in ["active": 1, "standby": 0, "retired": 0, "out_of_service": 0] {
            #expect(after[#"offer_signer_key_state{key="TESTKEY123",state="\#(state)"}"#] == Double(value))
        }
        // The reload applies everything except the metrics address, which needs a restart.
        try service.reload("SUBSCRIPTION_OFFERS_METRICS_ADDRESS=127.0.0.1:9464")
        try await waitUntil { try await scrape()[applied] == 2 }
        #expect(try await scrape()["offer_signer_setup_problems"] == 2)
    }

    // MARK: Alerts and dashboard

    @Test("promtool accepts the alerts, and each fires only for its cause")
    func alerts() throws {
        for command in [
            ["check", "rules", "packaging/prometheus/alerts.yml"],
            ["test", "rules", "packaging/prometheus/alerts.test.yml"],
        ] {
            let outcome = try Self.promtool(command[0], command[1], command[2])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        }
        let alerts = try Self.text("packaging/prometheus/alerts.yml")
        let names = alerts.matches(of: /-\ alert:\ /).count
        let runbooks = alerts.matches(of: /runbook:\ "[^"]{20,}"/).count
        #expect(names == runbooks && names > 0)
    }

    @Test("promtool accepts every expression in the dashboard")
    func dashboard() throws {
        let expressions = try Self.expressions()
        #expect(expressions.count >= 20)
        let rules = expressions.enumerated().map { number, expression in
            let filled = expression.replacing("$__rate_interval", with: "5m").replacing("$instance", with: ".*")
            return "  - {record: 'panel:\(number)', expr: '\(filled.replacing("'", with: "''"))'}"
        }
        let folder = try TemporaryFolder()
        try folder.write(
            "groups:\n- name: dashboard\n  rules:\n\(rules.joined(separator: "\n"))\n".utf8, to: "rules.yml")
        let outcome = try Self.promtool("check", "rules", folder.path + "/rules.yml")
        #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        #expect(outcome.standardOutput.contains("\(expressions.count) rules found"))
    }

    @Test("each panel of the dashboard has an ID of its own")
    func panels() throws {
        let panels = try #require(try Self.dashboard()["panels"] as? [[String: Any]])
        let numbers = panels.compactMap { $0["id"] as? Int }
        #expect(numbers.count == panels.count && Set(numbers).count == panels.count)
    }

    private static func dashboard() throws -> [String: Any] {
        let json = try JSONSerialization.jsonObject(with: Data(text("packaging/grafana/dashboard.json").utf8))
        return try #require(json as? [String: Any])
    }

    /// Every query in the dashboard, including its annotations.
    private static func expressions() throws -> [String] {
        let dashboard = try dashboard()
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        let annotations = (dashboard["annotations"] as? [String: Any])?["list"] as? [[String: Any]] ?? []
        return (panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] } + annotations).compactMap {
            $0["expr"] as? String
        }
    }

    @Test("the alerts and the dashboard use only existing metrics and labels")
    func names() throws {
        let alerts = try Self.text("packaging/prometheus/alerts.yml").split(separator: "\n")
            .filter { $0.contains(" expr: ") }.map(String.init)
        var used: Set<String> = []
        for expression in try Self.expressions() + alerts {
            for match in expression.matches(of: /((?:offer_signer|process)_[a-z_]+)(?:\{([^}]*)\})?/) {
                let name = String(match.output.1)
                let metric = Metric.all.first { metric in
                    let names = ["_bucket", "_sum", "_count"].map { metric.name + $0 }
                    return name == metric.name || metric.kind == .histogram && names.contains(name)
                }
                guard let metric else {
                    Issue.record("there is no metric \(name)")
                    continue
                }
                used.insert(metric.name)
                for label in (match.output.2 ?? "").matches(of: /([a-z]+)=/).map({ String($0.output.1) }) {
                    #expect((metric.labels + ["instance", "le"]).contains(label), "\(name) has no label \(label)")
                }
            }
        }
        #expect(used == Set(Metric.all.map(\.name)), "every metric has an alert or a panel")
    }

    @Test("docs/metrics.md describes exactly the existing metrics")
    func documentation() throws {
        let rows = try Self.text("docs/metrics.md").split(separator: "\n").filter {
            $0.hasPrefix("| `") && $0.split(separator: "|").count >= 4
        }
        let expected = Metric.all.map { metric in
            let labels = metric.labels.map { "`\($0)`" }.joined(separator: ", ")
            return "| `\(metric.name)` | \(metric.kind.rawValue) | \(labels) | \(metric.help) |"
        }
        #expect(rows.map(String.init) == expected)
        let labels = try Self.text("docs/metrics.md").matches(of: /(?m)^\| `([a-z]+)` \| [^|]+ \|$/).map {
            String($0.output.1)
        }
        let ofBuild: Set = ["version", "swift", "openssl"]
        #expect(Set(labels) == Set(Metric.all.flatMap(\.labels)).subtracting(ofBuild))
    }
}
