package import Logging
package import NIOCore
import NIOPosix
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferTelemetry
import Synchronization

/// The log lines about refused requests.
///
/// Strangers can be refused millions of times, so all of their refusals share one line a second. A line that explains
/// why an offer is not served is composed on a separate thread. Searching for a similar name takes longer for some
/// names than for others, and the response time must not reveal which names exist.
package final class RefusalLog: Sendable {
    /// Runs a job later, on another thread.
    package typealias Run = @Sendable (_ job: @escaping @Sendable () -> Void) -> Void

    /// The maximum number of lines that wait to be composed. Further lines are dropped and counted.
    package static let maximumWaiting = 256

    private let log: Logger
    private let run: Run
    private let requests: SampledLine
    private let offers: SampledLine
    private let waiting = Atomic(0)
    private let dropped = Atomic(0)

    /// - Parameter run: nil to use a separate thread.
    package init(log: Logger, uptime: @escaping @Sendable () -> NIODeadline, run: Run? = nil) {
        self.log = log
        self.run = run ?? Self.onOwnThread()
        requests = SampledLine(uptime: uptime)
        offers = SampledLine(uptime: uptime)
    }

    private static func onOwnThread() -> Run {
        let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1).any()
        return { thread.execute($0) }
    }

    /// Logs that a request was refused.
    /// - Parameter principal: nil if the request was not admitted. Only a request admitted with a valid token gets a
    ///   separate line.
    func requestRefused(_ problem: Problem, to principal: Principal?, _ context: RequestContext) {
        var metadata: Logger.Metadata = ["code": "\(problem.code.rawValue)"]
        if let reason = problem.logReason { metadata["reason"] = "\(reason)" }
        var level = Logger.Level.info
        if principal?.isAnonymous ?? true {
            // An offer that is not served gets a separate line.
            let tally = problem.code == .offerNotServed ? nil : requests.note(problem.code.rawValue)
            if let tally { metadata.merge(tally) { $1 } } else { level = .debug }
        }
        log.log(level: level, "request refused", metadata: context.metadata(metadata))
    }

    /// Logs why an offer is not served. Nothing waits for the line.
    /// - Parameter reason: composes the reason on another thread.
    func offerNotServed(
        _ item: CatalogueItem, to principal: Principal, _ context: RequestContext,
        because reason: @escaping @Sendable () -> String
    ) {
        guard log.logLevel <= .notice else { return }
        var tally: Logger.Metadata = [:]
        if principal.isAnonymous {
            guard let due = offers.note(Problem.Code.offerNotServed.rawValue) else { return }
            tally = due
        }
        guard waiting.wrappingAdd(1, ordering: .relaxed).newValue <= Self.maximumWaiting else {
            waiting.wrappingSubtract(1, ordering: .relaxed)
            dropped.wrappingAdd(1, ordering: .relaxed)
            return
        }
        run { [self, tally] in
            var metadata = tally
            metadata["reason"] = "\(reason())"
            metadata["app"] = "\(item.app.text)"
            metadata["product"] = "\(item.product?.text.description ?? "-")"
            metadata["offer"] = "\(item.offer?.text.description ?? "-")"
            metadata["caller"] = "\(principal.name)"
            let dropped = dropped.exchange(0, ordering: .relaxed)
            if dropped > 0 { metadata["dropped"] = "\(dropped)" }
            log.notice("offer not served", metadata: context.metadata(metadata))
            waiting.wrappingSubtract(1, ordering: .relaxed)
        }
    }

    /// Logs the strangers' refusals that are not logged yet. Called once a second.
    package func flush() {
        if let tally = requests.overdue() { log.info("request refused", metadata: tally) }
        if let tally = offers.overdue() { log.notice("offer not served", metadata: tally) }
    }
}
