package import Logging
package import OfferCore
import ServiceLifecycle

/// Keeps the key sets of identity providers in step with their files and URLs, for as long as the service runs.
///
/// Which sets are wanted is looked up in the setup in force every second, so a new one is had soon after a change of the
/// configuration. A set that has been had stays in force when it cannot be had again, and the readiness says why.
package actor UserKeysKeeper: Service {
    private let setup: CurrentSetup
    private let keys: CurrentUserKeys
    private let source: any KeySetSource
    private let readiness: Readiness
    private let log: Logger
    private var places: [KeySetPlace: KeySetState] = [:]

    /// - Parameter keys: the sets in force, which are changed here.
    package init(
        setup: CurrentSetup, keys: CurrentUserKeys, source: any KeySetSource, readiness: Readiness, log: Logger
    ) {
        self.setup = setup
        self.keys = keys
        self.source = source
        self.readiness = readiness
        self.log = log
    }

    /// Looks every second until the service stops.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            // Each set in a task of its own: one that cannot be had keeps no other waiting.
            await withDiscardingTaskGroup { group in
                repeat {
                    for place in await self.takeDue(at: .now) { group.addTask { await self.load(place) } }
                } while (try? await Task.sleep(for: .seconds(1))) != nil
            }
        }
        await source.close()
    }

    /// The sets that are to be read now.
    private func takeDue(at now: ContinuousClock.Instant) -> [KeySetPlace] {
        let wanted = Set(setup.snapshot.callers.userIssuers.map(\.keys))
        for place in places.keys where !wanted.contains(place) {
            places[place] = nil
            keys.replace(nil, at: place)
        }
        report()
        return wanted.filter { place in
            let isAskedAgain = keys.isAskedAgain(at: place)
            guard places[place, default: KeySetState(place)].begin(at: now, isAskedAgain: isAskedAgain) else {
                return false
            }
            keys.clearAsking(at: place)
            return true
        }
    }

    private func load(_ place: KeySetPlace) async {
        do throws(SetupProblem) {
            let text = try await source.text(at: place)
            if places[place]?.text == text {
                places[place]?.succeed(at: .now)
            } else {
                let (set, problems) = try await source.keys(in: text, from: place)
                // Somebody may have taken it out of the configuration meanwhile.
                guard places[place] != nil else { return }
                places[place]?.succeed(with: text, problems: problems, at: .now)
                keys.replace(set, at: place)
                log.notice("users' keys in force", metadata: ["from": "\(place)", "keys": "\(set.keys.count)"])
            }
        } catch {
            // To be stopped in the middle is no problem of the set.
            guard !Task.isCancelled else { return }
            places[place]?.fail(with: error, at: .now)
        }
        report()
    }

    private func report() {
        let issuers = setup.snapshot.callers.userIssuers
        let ofSets = issuers.map(\.keys).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
            .flatMap { places[$0]?.problems(at: .now) ?? [] }
        let ofIssuers = issuers.compactMap { issuer in keys.set(at: issuer.keys).flatMap(issuer.problem(with:)) }
        readiness.report(ofSets + ofIssuers, from: .users, to: log)
    }
}
