import OfferCore

/// A verdict on each presented signature, and advice on StoreKit's error.
///
/// The members of ``Verdict`` are forwarded to the main verdict, ``verdict``.
@dynamicMemberLookup
package struct Explanation: Hashable, Sendable {
    /// StoreKit's error and advice on what to check.
    package struct StoreKitAdvice: Hashable, Sendable {
        package let error: String
        package let check: String
    }

    /// The verdict on the V1 signature, or on the JWS if there is no V1 signature.
    package let verdict: Verdict
    /// The verdict on a JWS that accompanies a V1 signature.
    package let jwsVerdict: Verdict?
    package let storeKit: StoreKitAdvice?
    /// The number of verifications that the search performed.
    package let verificationCount: Int

    package subscript<Value>(dynamicMember member: KeyPath<Verdict, Value>) -> Value { verdict[keyPath: member] }

    package var verdicts: [Verdict] { [verdict, jwsVerdict].compactMap(\.self) }

    /// True if every presented signature verifies without findings.
    package var isGood: Bool { verdicts.allSatisfy(\.isGood) }

    /// The response body, which `offer-signer verify` also prints.
    package var body: [UInt8] {
        var writer = JSONWriter()
        verdict.write(to: &writer)
        if let jwsVerdict { writer.object("compactJWS") { jwsVerdict.write(to: &$0) } }
        if let storeKit {
            writer.object("storeKit") { writer in
                writer.member("error", storeKit.error)
                writer.member("check", storeKit.check)
            }
        }
        return writer.finish()
    }
}
