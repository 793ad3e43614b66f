package import Logging
package import OfferCore
import ServiceLifecycle

/// Keeps the key sets of identity providers in step with their files and URLs, for as long as the service runs.
///
/// Which sets are wanted is looked up in the setup in force every second, so a new one is had soon after a change of the
/// configuration. A set that has been had stays in force for a day when it cannot be had again, and the readiness says why;
/// one that is had and is no good takes the old one with it.
package actor UserKeysKeeper: Service {
    private let setup: CurrentSetup
    private let keys: CurrentUserKeys
    private let source: any KeySetSource
    private let lifetime: Duration
    private let readiness: Readiness
    private let log: Logger
    private var places: [KeySetPlace: KeySetState] = [:]
    private var lastReading = 0
    /// What each issuer has, by its name.
    private var inForce: [[UInt8]: HadKeySet] = [:]

    /// - Parameters:
    ///   - keys: the sets in force, which are changed here.
    ///   - lifetime: for how long a set serves that cannot be had again. Without an end, whoever keeps us from its place could
    ///     keep a key in force that has been withdrawn.
    package init(
        setup: CurrentSetup, keys: CurrentUserKeys, source: any KeySetSource,
        lifetime: Duration = .seconds(24 * 3600), readiness: Readiness, log: Logger
    ) {
        self.setup = setup
        self.keys = keys
        self.source = source
        self.lifetime = lifetime
        self.readiness = readiness
        self.log = log
    }

    /// Looks every second until the service stops.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            // Each set in a task of its own: one that cannot be had keeps no other waiting.
            await withDiscardingTaskGroup { group in
                repeat {
                    for (place, number) in await self.takeDue(at: .now) {
                        group.addTask { await self.load(place, number) }
                    }
                } while (try? await Task.sleep(for: .seconds(1))) != nil
            }
        }
        await source.close()
    }

    /// The sets that are to be read now.
    private func takeDue(at now: ContinuousClock.Instant) -> [(place: KeySetPlace, number: Int)] {
        let issuers = setup.snapshot.callers.userIssuers
        let wanted = Set(issuers.map(\.keys))
        places = places.filter { wanted.contains($0.key) }
        putInForce(at: now)
        return wanted.compactMap { place in
            let asked = issuers.filter { $0.keys == place && keys.isAskedAgain(for: $0) }
            lastReading += 1
            guard places[place, default: KeySetState(place)].begin(lastReading, at: now, isAskedAgain: !asked.isEmpty)
            else { return nil }
            for issuer in asked { keys.clearAsking(for: issuer) }
            return (place, lastReading)
        }
    }

    /// - Parameter number: of the reading. While it waits, the place may be taken out of the configuration, put in again and
    ///   read anew: what comes late then is not for it.
    private func load(_ place: KeySetPlace, _ number: Int) async {
        let isCurrent = { self.places[place]?.isReading(number) == true }
        do throws(KeySetFault) {
            let text = try await source.text(at: place)
            guard isCurrent(), places[place]?.end(with: text, at: .now) == false else { return putInForce(at: .now) }
            let reading = await read(text, from: place)
            guard isCurrent() else { return }
            places[place]?.end(with: text, reading, at: .now)
            if case .success(let read) = reading {
                log.notice("users' keys in force", metadata: ["from": "\(place)", "keys": "\(read.set.keys.count)"])
            }
        } catch {
            // To be stopped in the middle is no problem of the set.
            guard !Task.isCancelled, isCurrent() else { return }
            if let detail = error.detail {
                log.debug("users' keys not had", metadata: ["from": "\(place)", "reason": "\(detail)"])
            }
            places[place]?.fail(with: error, at: .now)
        }
        putInForce(at: .now)
    }

    private func read(_ text: KeySetText, from place: KeySetPlace) async -> KeySetState.Reading {
        do throws(KeySetFault) { return .success(try await source.keys(in: text.bytes, from: place)) } catch {
            return .failure(error)
        }
    }

    /// Gives each issuer the set of its place. Until that has been read once, one that has moved keeps what it had.
    private func putInForce(at now: ContinuousClock.Instant) {
        let issuers = setup.snapshot.callers.userIssuers
        var next: [[UInt8]: HadKeySet] = [:]
        var problems: [SetupProblem] = []
        for issuer in issuers {
            guard var had = places[issuer.keys]?.had ?? inForce[issuer.issuer] else { continue }
            if now - had.lastHad >= lifetime {
                had = HadKeySet(UserKeySet([]), lastHad: had.lastHad)
                problems.append(
                    SetupProblem(
                        "the keys of \(issuer.name) could not be had for too long, so every user is refused",
                        hint: "mend what keeps the service from reading \(issuer.keys)"))
            } else if places[issuer.keys]?.had != nil, !had.set.keys.isEmpty,
                let problem = issuer.problem(with: had.set)
            {
                problems.append(problem)
            }
            next[issuer.issuer] = had
            keys.replace(had.set, of: issuer)
        }
        inForce = next
        keys.keep(issuers)
        let ofPlaces = issuers.map(\.keys).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
            .flatMap { places[$0]?.problems(at: now) ?? [] }
        readiness.report(ofPlaces + problems, from: .users, to: log)
    }
}
