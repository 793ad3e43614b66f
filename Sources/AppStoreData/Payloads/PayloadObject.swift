package import OfferCore

/// The JSON object of a payload and its kind. The caller verifies the signature.
package struct PayloadObject: Hashable, Sendable {
    /// The JSON as signed.
    package let json: [UInt8]
    package let members: JSONObject

    /// The maximum number of members or elements. Apple's longest list has one element per storefront.
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

    /// The time when Apple signed the payload, for choosing the time at which its certificates must be valid.
    ///
    /// This is the only part of a payload that a verifier may read before the signature is verified.
    /// - Returns: nil if the payload has no date.
    package func effectiveDate() throws(PayloadError) -> Timestamp? {
        let name = try kind().dateMember
        guard let value = members[name], value != .null else { return nil }
        return try PayloadValue(name: name, value: value, acceptsFractions: isFromXcode).timestamp()
    }

    private var isFromXcode: Bool {
        let xcode = JSONValue.string(Array(AppStoreEnvironment.xcode.rawValue.utf8))
        return members["environment"] == xcode || members["receiptType"] == xcode
    }
}
