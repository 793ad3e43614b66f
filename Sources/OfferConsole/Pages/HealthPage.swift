package import OfferCore

/// `GET /health`: each check in words, and the keys.
package final class HealthView: Sendable {
    /// As in `/health/ready`.
    package enum State: Sendable {
        case ok, degraded, failed, off
    }

    package final class Key: Sendable {
        let keyID: String
        /// SHA-256 of the public half: 64 hexadecimal digits.
        let fingerprint: String
        /// `active`, `standby` or `retired`.
        let state: String
        let since: Timestamp?
        /// True if the key had its state when the service started, so it may have it for longer.
        let isSinceStart: Bool
        /// Since the service started; nil for none.
        let lastSignature: Timestamp?

        package init(
            keyID: String, fingerprint: String, state: String, since: Timestamp?, isSinceStart: Bool = false,
            lastSignature: Timestamp?
        ) {
            self.keyID = keyID
            self.fingerprint = fingerprint
            self.state = state
            self.since = since
            self.isSinceStart = isSinceStart
            self.lastSignature = lastSignature
        }
    }

    /// A difference between the catalogue and App Store Connect.
    package final class Finding: Sendable {
        /// The app, the product and the offer.
        let subject: String
        let sentence: String
        let hint: String
        /// True if customers would meet it.
        let isError: Bool

        package init(subject: String, sentence: String, hint: String, isError: Bool) {
            self.subject = subject
            self.sentence = sentence
            self.hint = hint
            self.isError = isError
        }
    }

    let frame: PageFrame
    let now: Timestamp
    let checks: [(check: HealthCheck, state: State)]
    /// The current problems, as in `/health/ready`; a sentence each.
    let problems: [String]
    let keys: [Key]
    let findings: [Finding]
    /// The time of the oldest reading of App Store Connect that the findings rest on; nil if there was none.
    let catalogueReadAt: Timestamp?

    package init(
        frame: PageFrame, now: Timestamp, checks: [(check: HealthCheck, state: State)], problems: [String], keys: [Key],
        findings: [Finding] = [], catalogueReadAt: Timestamp? = nil
    ) {
        self.frame = frame
        self.now = now
        self.checks = checks
        self.problems = problems
        self.keys = keys
        self.findings = findings
        self.catalogueReadAt = catalogueReadAt
    }

    package var html: HTML {
        // What needs attention comes first.
        let sorted = checks.filter { $0.state.needsAttention } + checks.filter { !$0.state.needsAttention }
        return frame.page(
            "Health", in: .health,
            """
            <h1>Health</h1>
            \(summary)\(problemList)\
            \(Blocks.section("checks", "Checks", "<ul class=\"checks\">\(sorted.html { row($0.check, $0.state) })</ul>"))\
            \(findingList)\
            \(Blocks.section("keys", "Keys", count: keys.count, keyTable))
            """)
    }

    private var summary: HTML {
        if checks.contains(where: { $0.state == .failed }) {
            Blocks.notice(
                .problem, "The service cannot sign everything that it should.",
                "<p>Probes get 503. Start with the failed checks.</p>")
        } else if checks.contains(where: { $0.state == .degraded }) || !problems.isEmpty {
            Blocks.notice(.warning, "Signing works, but something needs attention.")
        } else {
            Blocks.notice(.success, "Everything works.")
        }
    }

    private var problemList: HTML? {
        guard !problems.isEmpty else { return nil }
        return Blocks.section(
            "problems", "Problems", count: problems.count,
            "<ul>\(problems.html { "<li>\(UserText.text($0))</li>" })</ul>")
    }

    /// The comparison with App Store Connect; nil if it was never read.
    private var findingList: HTML? {
        guard let catalogueReadAt else { return nil }
        let rows = findings.html { finding in
            Blocks.row([
                finding.isError
                    ? Blocks.badge(.bad, "\(Icon.cross)error") : Blocks.badge(.warning, "\(Icon.warning)warning"),
                UserText.code(finding.subject), UserText.text(finding.sentence), UserText.text(finding.hint),
            ])
        }
        let table =
            findings.isEmpty
            ? Blocks.empty("No findings", "The catalogue agrees with App Store Connect.")
            : Blocks.table("Findings", head: ["Severity", "Offer", "Finding", "What to do"], rows: rows)
        return Blocks.section(
            "findings", "Findings in App Store Connect", count: findings.count,
            "\(table)<p class=\"note\">Read \(frame.clock.html(catalogueReadAt, now: now)).</p>")
    }

    private func row(_ check: HealthCheck, _ state: State) -> HTML {
        let action: HTML? = state.needsAttention ? #"<p class="todo"><b>What to do:</b> \#(check.action)</p>"# : nil
        return """
            <li class="check"><div class="check-state">\(state.badge)</div><div><h3>\(check.title)</h3>
            <p>\(check.meaning(state))</p>\(action)</div></li>

            """
    }

    private var keyTable: HTML {
        guard !keys.isEmpty else {
            return Blocks.empty("No key is loaded", "Put a key file into the folder of the keys, and send SIGHUP.")
        }
        let rows = keys.html { key in
            Blocks.row([
                UserText.code(key.keyID), #"<code class="fingerprint">\#(key.fingerprint)</code>"#,
                Self.badge(key.state),
                key.since.map { time in
                    key.isSinceStart
                        ? #"\#(frame.clock.html(time)) <span class="note">or longer</span>"# : frame.clock.html(time)
                } ?? "unknown",
                key.lastSignature.map { frame.clock.html($0, now: now) } ?? "none since the start",
            ])
        }
        return Blocks.table(
            "Keys", head: ["Key ID", "Fingerprint (SHA-256)", "State", "Since", "Last signature"], rows: rows)
    }

    private static func badge(_ state: String) -> HTML {
        Blocks.badge(state == "active" ? .good : .neutral, "\(state)")
    }
}

extension HealthView.State {
    var needsAttention: Bool { self == .degraded || self == .failed }

    fileprivate var badge: HTML {
        switch self {
        case .ok: Blocks.badge(.good, "\(Icon.tick)ok")
        case .degraded: Blocks.badge(.warning, "\(Icon.warning)degraded")
        case .failed: Blocks.badge(.bad, "\(Icon.cross)failed")
        case .off: Blocks.badge(.neutral, "off")
        }
    }
}
