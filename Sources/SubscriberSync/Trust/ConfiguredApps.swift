package import AppStoreData
package import Logging
import NIOConcurrencyHelpers
package import OfferConfiguration
import OfferCore
import OfferEligibility

/// The apps whose App Store data is accepted under the policy in force.
package final class ConfiguredApps: Sendable {
    private let latest = NIOLockedValueBox<(policy: Policy, apps: ExpectedApps)?>(nil)
    private let log: Logger

    package init(log: Logger) {
        self.log = log
    }

    package func expected(under policy: Policy) throws(DataRefusal) -> ExpectedApps {
        if let known = latest.withLockedValue({ $0 }), known.policy === policy { return known.apps }
        do {
            let expected = try (policy.catalogue ?? Catalogue(apps: [:])).expectedApps
            latest.withLockedValue { $0 = (policy, expected) }
            return expected
        } catch {
            log.error("the apps in the configuration contradict each other", metadata: ["reason": "\(error)"])
            throw DataRefusal(VerificationFailure(.verificationUnavailable))
        }
    }
}

extension Catalogue {
    /// The apps whose App Store data is accepted.
    var expectedApps: ExpectedApps {
        get throws(ExpectedAppError) {
            var expected: [ExpectedApp] = []
            for (bundleID, app) in apps {
                expected.append(
                    try ExpectedApp(
                        bundleID: bundleID, appAppleID: app.appAppleID, environments: app.environments,
                        isDevelopment: true))
            }
            return try ExpectedApps(expected)
        }
    }
}
