package import OfferCore

/// The JWS that goes with the signature of a promotional offer, or why none does.
package enum OfferJWS: Hashable, Sendable {
    /// Apple's sample knows none.
    case notWanted
    case made(CompactJWS)
    case missing(Gaps)

    /// What there would have to be.
    package struct Gaps: OptionSet, Hashable, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The operator has configured none for the app.
        package static let issuerID = Gaps(rawValue: 1)
        /// The caller has given none, and the app allows no JWS without.
        package static let transactionID = Gaps(rawValue: 2)
        /// A user asks. A JWS names no customer but a transaction, and whose that is only the team's backend can know.
        package static let callersToken = Gaps(rawValue: 4)

        /// Stable names, for programs.
        var codes: [String] { Self.codes[rawValue] }

        private static let names = ["issuer_id_missing", "transaction_id_missing", "callers_token_missing"]

        // A table, so that an answer without a JWS costs no more than it did.
        private static let codes = (0..<8).map { gaps in
            names.indices.filter { gaps & 1 << $0 != 0 }.map { names[$0] }
        }
    }
}
