import NIOConcurrencyHelpers
import OfferCore
import OfferTelemetry
import TestSupport

@testable import OfferConfiguration
@testable import OfferService
@testable import SubscriberSync

/// The watch over the ledger, round by round.
final class LedgerAlarm {
    private let watch: LedgerWatch
    private let service: StoreService
    private var progress = LedgerWatch.Progress()

    init(_ service: StoreService) {
        self.service = service
        let policy = CurrentPolicy(Policy(ring: KeyRing(), catalogue: service.catalogue))
        watch = LedgerWatch(
            service.current, policy: policy, now: { [wall = service.routes.wall] in wall.withLockedValue { $0 } },
            readiness: service.routes.readiness, metrics: service.routes.metrics.sync, log: RecordedLog().logger)
    }

    func check() async { await watch.check(&progress) }

    /// What operators are told.
    var alarms: [String] { service.routes.readiness.problems.map(\.error) }
}
