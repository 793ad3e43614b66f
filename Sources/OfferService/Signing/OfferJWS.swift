package import OfferCore

/// The JWS that accompanies the signature of a promotional offer, or the reason it is absent.
package enum OfferJWS: Hashable, Sendable {
    /// The request uses the format of Apple's sample, which has no JWS.
    case notWanted
    case made(CompactJWS)
    case missing(Gaps)

    /// The missing prerequisites for a JWS.
    package struct Gaps: OptionSet, Hashable, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// No issuer ID is configured for the app.
        package static let issuerID = Gaps(rawValue: 1)
        /// The request has no transaction ID, and the app does not permit an unbound JWS.
        package static let transactionID = Gaps(rawValue: 2)
        /// The request comes from a user. A JWS names a transaction instead of a customer, and only the team's backend
        /// knows whose transaction it is.
        package static let callersToken = Gaps(rawValue: 4)

        /// Stable names for programs.
        var codes: [String] { Self.codes[rawValue] }

        private static let names = ["issuer_id_missing", "transaction_id_missing", "callers_token_missing"]

        // The codes are in a table, so that a response without a JWS has no extra cost.
        private static let codes = (0..<8).map { gaps in
            names.indices.filter { gaps & 1 << $0 != 0 }.map { names[$0] }
        }
    }
}
