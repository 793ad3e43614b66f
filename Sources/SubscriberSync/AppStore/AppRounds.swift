import NIOConcurrencyHelpers
import OfferConfiguration
import OfferCore
package import OfferEligibility
import OfferTelemetry

/// Rounds of background work for several apps at the same time, so that a slow app does not delay others.
///
/// An app has at most one round at a time. If all places are taken, the app whose last round began first is next.
package final class AppRounds: Sendable {
    private struct State {
        var running: Set<AppScope> = []
        /// The number of each app's last round.
        var last: [AppScope: Int] = [:]
        var count = 0
    }

    private let state = NIOLockedValueBox(State())
    private let pause: Duration
    private let places: Int

    /// - Parameters:
    ///   - pause: the interval between checks for idle apps.
    ///   - places: the maximum number of apps served at the same time.
    package init(every pause: Duration, places: Int = 16) {
        self.pause = pause
        self.places = places
    }

    /// Runs rounds until the task is cancelled.
    package func run(
        _ apps: @escaping @Sendable () -> [AppScope], _ round: @escaping @Sendable (AppScope) async -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            await Periodic.run(every: pause) {
                for app in begin(apps()) {
                    group.addTask { [state] in
                        await round(app)
                        state.withLockedValue { _ = $0.running.remove(app) }
                    }
                }
            }
        }
    }

    /// Assigns the free places to idle apps, and returns these apps.
    private func begin(_ apps: [AppScope]) -> [AppScope] {
        state.withLockedValue { state in
            state.last = state.last.filter { apps.contains($0.key) }
            let free = apps.filter { !state.running.contains($0) }.sorted {
                state.last[$0, default: 0] < state.last[$1, default: 0]
            }
            let begun = Array(free.prefix(places - state.running.count))
            state.count += 1
            for app in begun {
                state.running.insert(app)
                state.last[app] = state.count
            }
            return begun
        }
    }
}
