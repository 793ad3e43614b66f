package import OfferCore
import OfferEligibility

/// The JSON object of a payload. The caller verifies the signature.
package struct PayloadObject: Hashable, Sendable {
    /// The JSON as signed.
    package let json: [UInt8]
    package let members: JSONObject

    /// The maximum number of members in an object or elements in an array. Apple's longest list has one element per
    /// storefront.
    private static let maximumCount = 1024

    package init(json: [UInt8]) throws(PayloadError) {
        let value: JSONValue
        do { value = try JSONReader.read(json, maximumCount: Self.maximumCount) } catch {
            throw PayloadError(.notJSON(error))
        }
        guard case .object(let members) = value else { throw PayloadError(.notAnObject) }
        self.json = json
        self.members = members
    }

    init(_ payload: VerifiedPayload) { (json, members) = (payload.bytes, payload.members) }

    /// - Throws: `.unrecognised` or `.ambiguous`.
    package func kind() throws(PayloadError) -> PayloadKind { try PayloadKind.recognise(members) }

    /// True if the payload names at least one environment, and only environments for tests on a developer's machine.
    var isFromTests: Bool {
        let tests = [AppStoreEnvironment.xcode, .localTesting].map { JSONValue.string(Array($0.rawValue.utf8)) }
        let environments = ["environment", "receiptType"].compactMap { members[$0] }
        return !environments.isEmpty && environments.allSatisfy(tests.contains)
    }
}
