package import OfferCore

/// A request of the Advanced Commerce API that an app is to make: the body of `POST /v1/advanced-commerce`.
package struct AdvancedCommerceRequest: Hashable, Sendable {
    package let bundleID: BundleID
    /// Signed byte for byte as it came: written anew, it could say something else to another reader.
    package let request: JSONObjectText

    /// The largest request. The JWS around it is 16/9 as large, and has to fit into a question to `/v1/explanations`.
    package static let maximumSize = 16 * 1024

    /// - Parameters:
    ///   - members: what `body` says.
    ///   - body: the text that they were read from.
    package init(_ members: JSONObject, body: [UInt8]) throws(Problem) {
        let reader = MemberReader(members)
        try reader.refuseOthers(than: ["bundleID", "request"])
        bundleID = try reader.field("bundleID", BundleID.init)
        guard let value = members["request"] else { throw .missingField("request") }
        guard case .object(let object) = value else {
            throw .wrongType(field: "request", expected: "an object", found: value.kind)
        }
        // Whatever Apple takes names its operation.
        guard !object.members.isEmpty else { throw .invalidField(FieldError(field: "request", reason: .empty)) }
        guard let text = try? JSONReader.text(ofMember: "request", in: body), let request = try? JSONObjectText(text)
        else {
            throw .wrongType(field: "request", expected: "an object", found: value.kind)
        }
        guard text.count <= Self.maximumSize else {
            throw .invalidField(FieldError(field: "request", reason: .tooLong(maximumBytes: Self.maximumSize)))
        }
        self.request = request
    }

    /// The answer. The request is in the JWS.
    package func body(_ jws: CompactJWS) -> [UInt8] {
        var writer = JSONWriter()
        writer.member("bundleID", utf8: bundleID.text.utf8)
        writer.member("compactJWS", utf8: jws.text)
        return writer.finish()
    }
}
