package import Logging
package import OfferCore
import OfferEligibility
package import OfferTelemetry
import ServiceLifecycle

/// A background service that keeps the key sets of identity providers up to date with their files and URLs.
///
/// The policy in force is read every second, so the key sets of new issuers are fetched soon after a configuration
/// change. If a set becomes unavailable, the previous set stays in force for a day, and readiness reports the reason.
/// An unusable set replaces the previous one immediately. If an issuer's location changes, its old keys are dropped
/// immediately.
package actor JWKSRefresher: Service {
    private let issuers: @Sendable () -> [UserIssuer]
    private let keys: CurrentUserKeys
    private let source: any KeySetSource
    private let lifetime: Duration
    private let readiness: Readiness
    private let log: Logger
    private var states: [KeySetLocation: KeySetState] = [:]
    private var lastReading = 0

    /// - Parameters:
    ///   - keys: the sets in force, which this refresher replaces.
    ///   - lifetime: the time for which a set stays in force while it is unavailable. Without a limit, an attacker who
    ///     blocks the connection could keep a withdrawn key in force.
    package init(
        issuers: @escaping @Sendable () -> [UserIssuer], keys: CurrentUserKeys, source: any KeySetSource,
        lifetime: Duration = .seconds(24 * 3600), readiness: Readiness, log: Logger
    ) {
        self.issuers = issuers
        self.keys = keys
        self.source = source
        self.lifetime = lifetime
        self.readiness = readiness
        self.log = log
    }

    /// Checks every second which sets are due to be read, until the service stops.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            // Each set has its own task, so that an unavailable set does not delay others.
            await withDiscardingTaskGroup { group in
                await Periodic.run(every: .seconds(1)) {
                    for (place, number) in await self.beginDueReadings(at: .now) {
                        group.addTask { await self.load(place, number) }
                    }
                }
            }
        }
        await source.close()
    }

    /// Begins the reads that are due and returns them.
    private func beginDueReadings(at now: ContinuousClock.Instant) -> [(place: KeySetLocation, number: Int)] {
        let issuers = issuers()
        let wanted = Set(issuers.map(\.keys))
        states = states.filter { wanted.contains($0.key) }
        putInForce(at: now)
        return wanted.compactMap { place in
            let requesting = issuers.filter { $0.keys == place && keys.isRefreshRequested(of: $0) }
            lastReading += 1
            guard
                states[place, default: KeySetState(place)]
                    .begin(lastReading, at: now, isRefreshRequested: !requesting.isEmpty)
            else { return nil }
            for issuer in requesting { keys.clearRefreshRequest(of: issuer) }
            return (place, lastReading)
        }
    }

    /// Performs a read.
    /// - Parameter number: the number of the read. While it runs, the location may be removed from the configuration
    ///   and added again. Another read then begins, and the late result of this one is discarded.
    private func load(_ place: KeySetLocation, _ number: Int) async {
        let isCurrent = { self.states[place]?.isReading(number) == true }
        do throws(KeySetFault) {
            let text = try await source.text(at: place)
            guard isCurrent(), states[place]?.endUnchanged(with: text, at: .now) == false else {
                return putInForce(at: .now)
            }
            let reading = await read(text, from: place)
            guard isCurrent() else { return }
            states[place]?.end(with: text, reading, at: .now)
            if case .success(let read) = reading {
                log.notice("users' keys in force", metadata: ["from": "\(place)", "keys": "\(read.set.keys.count)"])
            }
        } catch {
            // Cancellation at shutdown is not a problem with the set.
            guard !Task.isCancelled, isCurrent() else { return }
            states[place]?.fail(with: error, at: .now)
        }
        putInForce(at: .now)
    }

    private func read(_ text: KeySetText, from place: KeySetLocation) async -> KeySetState.Reading {
        do throws(KeySetFault) { return .success(try await source.keys(in: text.bytes, from: place)) } catch {
            return .failure(error)
        }
    }

    /// Puts the key set at each issuer's location in force. An issuer whose location has not been read yet has no keys.
    /// The operator may have changed the location because the old keys were compromised.
    private func putInForce(at now: ContinuousClock.Instant) {
        let issuers = issuers()
        var problems: [Diagnostic] = []
        for issuer in issuers {
            guard var current = states[issuer.keys]?.fetched else { continue }
            if now - current.fetchedAt >= lifetime {
                current = FetchedKeySet(UserKeySet([]), fetchedAt: current.fetchedAt)
                problems.append(
                    Diagnostic(
                        "the keys of \(issuer.name) have been unavailable for too long, so every user is refused",
                        hint: "restore the service's access to \(issuer.keys)"))
            } else if !current.set.keys.isEmpty, let problem = issuer.problem(with: current.set) {
                problems.append(problem)
            }
            keys.replace(current.set, of: issuer)
        }
        keys.keep(issuers)
        let locationProblems = issuers.map(\.keys).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
            .flatMap { states[$0]?.problems(at: now) ?? [] }
        readiness.report(locationProblems + problems, from: .users, to: log)
    }
}
