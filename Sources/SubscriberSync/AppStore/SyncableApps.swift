import OfferConfiguration
import OfferCore
package import OfferEligibility

extension Policy {
    /// The apps and environments that the App Store can be queried about: those with a server, a key and an issuer ID.
    package var syncableApps: [AppScope] {
        let apps = catalogue?.apps.filter { issuerIDs[$0.key] != nil && (try? ring.signingKey(for: $0.key)) != nil }
        return (apps ?? [:]).flatMap { bundleID, app in
            [AppStoreEnvironment.production, .sandbox].filter(app.environments.contains)
                .map { AppScope(bundleID: bundleID, environment: $0) }
        }
        .sorted {
            ($0.bundleID.text.description, $0.environment.rawValue) < (
                $1.bundleID.text.description, $1.environment.rawValue
            )
        }
    }
}
