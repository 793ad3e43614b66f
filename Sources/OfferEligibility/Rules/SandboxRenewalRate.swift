/// The rate at which the sandbox renews a monthly subscription, which each tester's settings choose in App Store Connect.
///
/// Source: Apple, "Testing In-App Purchases with sandbox".
package enum SandboxRenewalRate: String, CaseIterable, Hashable, Sendable {
    case threeMinutes = "3m"
    case fiveMinutes = "5m"
    case fifteenMinutes = "15m"
    case thirtyMinutes = "30m"
    case oneHour = "1h"
    /// TestFlight, where every subscription renews daily.
    case oneDay = "1d"

    /// The speed of time, as a multiple of real time. A month has 30 days.
    package var speed: Int { 30 * 24 * 60 / minutes }

    private var minutes: Int {
        switch self {
        case .threeMinutes: 3
        case .fiveMinutes: 5
        case .fifteenMinutes: 15
        case .thirtyMinutes: 30
        case .oneHour: 60
        case .oneDay: 24 * 60
        }
    }
}
