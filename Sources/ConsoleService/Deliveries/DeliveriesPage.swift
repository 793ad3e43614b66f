import OfferAudit
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore
import SubscriberSync

/// `GET /deliveries` and `POST /deliveries/retry`: the deliveries of events and notifications to the team's own receivers.
struct DeliveriesPage: Sendable {
    let store: CurrentStore
    let acts: ConsoleActs
    let metrics: ServiceMetrics

    private static let maximumLetters = 100

    var routes: [ConsoleRoute] {
        let access = ConsoleRoute.Access.roles(ConsoleSection.deliveries.roles)
        return [
            .page("/deliveries", for: access, [], answer), .act("/deliveries/retry", for: access, [], retry),
        ]
    }

    @Sendable private func answer(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        do {
            let receivers = try await store.receivers()
            let letters = try await store.deadLetters(after: nil, limit: Self.maximumLetters)
            let view = DeliveriesView(
                frame: request.frame(at: PageAddress("/deliveries")), now: request.now,
                receivers: views(of: receivers, Self.contents(request.policy.catalogue)),
                deadLetters: letters.map(DeliveriesView.DeadLetter.init))
            return .page(view.html)
        } catch { throw request.unavailable }
    }

    /// - Parameter contents: what each configured URL receives. Those without any delivery so far are listed, too.
    private func views(
        of receivers: [Receiver], _ contents: [String: [String]]
    ) -> [DeliveriesView.Receiver] {
        let known = Set(receivers.map(\.url))
        let unused = contents.keys.filter { !known.contains($0) }.sorted().map { url in
            Receiver(url: url, pending: 0, dead: 0, oldestPending: nil)
        }
        let figures = metrics.sync.figures.deliveries
        let listed = (receivers + unused).filter { receiver in
            contents[receiver.url] != nil || receiver.pending > 0 || receiver.dead > 0
        }
        return listed.map { receiver in
            let name = ReceiverName.of(receiver.url)
            return DeliveriesView.Receiver(
                name: name, contents: contents[receiver.url] ?? [], waiting: receiver.pending,
                oldestWaiting: receiver.oldestPending, deadLetters: receiver.dead,
                lastDelivery: figures[name]?.lastAt, failures: figures[name]?.failures ?? 0)
        }
    }

    /// Returns what each URL receives, according to the configuration.
    private static func contents(_ catalogue: Catalogue?) -> [String: [String]] {
        var contents: [String: [String]] = [:]
        for (bundleID, app) in catalogue?.apps ?? [:] {
            for url in app.events.receivers { contents[url, default: []].append("events of \(bundleID.text)") }
            for url in app.notifications.receivers {
                contents[url, default: []].append("notifications of \(bundleID.text)")
            }
        }
        return contents.mapValues { $0.sorted() }
    }

    @Sendable private func retry(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        try await acts.record(.retry, request)
        do { _ = try await store.reviveDeadLetters(at: request.now) } catch { throw request.unavailable }
        return .redirect(PageAddress("/deliveries"))
    }
}

extension DeliveriesView.DeadLetter {
    fileprivate convenience init(_ letter: DeadLetter) {
        let forward = letter.forward
        self.init(
            at: letter.diedAt, receiver: ReceiverName.of(forward.receiver), content: forward.contentType,
            id: forward.contentID, attempts: forward.failures)
    }
}
