import OfferCore

/// What can be said of what was presented: of its V1 signature, or of its JWS where that stands alone.
@dynamicMemberLookup
package struct Explanation: Hashable, Sendable {
    /// What StoreKit said, and what to check because of it.
    package struct StoreKitAdvice: Hashable, Sendable {
        package let error: String
        package let check: String
    }

    package let verdict: Verdict
    /// Of the JWS that was presented beside a V1 signature.
    package let ofJWS: Verdict?
    package let storeKit: StoreKitAdvice?

    package subscript<Value>(dynamicMember member: KeyPath<Verdict, Value>) -> Value { verdict[keyPath: member] }

    package var verdicts: [Verdict] { [verdict, ofJWS].compactMap(\.self) }

    /// Whether nothing keeps the App Store from taking either.
    package var isGood: Bool { verdicts.allSatisfy(\.isGood) }

    /// The body of the answer, and the output of `offer-signer verify`.
    package var body: [UInt8] {
        var writer = JSONWriter()
        verdict.write(to: &writer)
        if let ofJWS { writer.object("compactJWS") { ofJWS.write(to: &$0) } }
        if let storeKit {
            writer.object("storeKit") { writer in
                writer.member("error", storeKit.error)
                writer.member("check", storeKit.check)
            }
        }
        return writer.finish()
    }
}
