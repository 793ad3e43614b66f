package import AppStoreAPI
package import AppStoreData
import OfferConfiguration
package import OfferCore
import OfferEligibility
package import SubscriberStore

/// The reason an answer of the App Store did not reach the store.
package enum SyncError: Error, Sendable {
    case api(APIFailure)
    /// Part of the answer is not signed by Apple, or is not about the requested app.
    case data(DataRefusal)
    case store(StoreError)

    /// True if the App Store does not know the requested item in this environment.
    package var isNotFound: Bool {
        if case .api(.refused(let code)) = self { code.meansOtherEnvironment } else { false }
    }
}

extension SyncError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .api(let failure): "\(failure)"
        case .data(let refusal): "\(refusal)"
        case .store(let error): error.diagnostic.error
        }
    }
}

extension SyncError {
    /// The failure as a problem for an operator.
    package var diagnostic: Diagnostic {
        switch self {
        case .api(let failure): Diagnostic("\(failure)", hint: failure.hint)
        case .data(let refusal):
            Diagnostic(
                "the App Store's answer was refused (\(refusal))",
                hint: "docs/app-store-data.md explains the failed check")
        case .store(let error): error.diagnostic
        }
    }
}
