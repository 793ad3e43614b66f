package import OfferCore

/// `GET /grants`: the grants that wait for a second person, and the latest of all.
///
/// Actions: `POST /grants/approve` and `POST /grants/withdraw` with `grant`, the ID of a grant.
package final class GrantsView: Sendable {
    let frame: PageFrame
    let now: Timestamp
    let waiting: [GrantView]
    /// The latest first.
    let latest: [GrantView]
    /// False if no app of the configuration has grants.
    let isConfigured: Bool

    package init(frame: PageFrame, now: Timestamp, waiting: [GrantView], latest: [GrantView], isConfigured: Bool) {
        self.frame = frame
        self.now = now
        self.waiting = waiting
        self.latest = latest
        self.isConfigured = isConfigured
    }

    package var html: HTML {
        guard isConfigured || !latest.isEmpty else {
            return frame.page("Grants", in: .grants, "<h1>Grants</h1>\n\(Self.notConfigured)")
        }
        return frame.page("Grants", in: .grants, "<h1>Grants</h1>\n\(waitingSection)\(latestSection)")
    }

    private static let notConfigured: HTML = Blocks.notice(
        .information, "No app of the configuration has grants.",
        """
        <p>Add <code>grants: {}</code> to an app in the configuration file. Support can then give one offer to one \
        customer.</p>
        """)

    private var waitingSection: HTML {
        Blocks.section(
            "waiting", "Waiting for approval", count: waiting.count,
            waiting.isEmpty
                ? Blocks.empty("No grant waits", "A grant above the daily budget of a person needs a second person.")
                : list(waiting))
    }

    private var latestSection: HTML {
        // Those that wait stand above.
        let latest = latest.filter { $0.state != .awaitingApproval }
        return Blocks.section(
            "latest", "Latest", count: latest.count,
            latest.isEmpty
                ? Blocks.empty(
                    "Nothing was granted yet", "Find a customer, and grant an offer from the customer's page.")
                : list(latest))
    }

    private func list(_ grants: [GrantView]) -> HTML {
        """
        <ul class="grants">\(grants.html {
            $0.html(frame.clock, now: now, back: PageAddress("/grants"), showsCustomer: true)
        })</ul>
        """
    }
}
