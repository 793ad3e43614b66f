package import OfferCore

/// A request of the Advanced Commerce API that an app is to make: the body of `POST /v1/advanced-commerce`.
package struct AdvancedCommerceRequest: Hashable, Sendable {
    package let bundleID: BundleID
    /// Signed byte for byte as it came: written anew, it could say something else to another reader.
    package let request: JSONObjectText

    /// - Parameters:
    ///   - members: what `body` says.
    ///   - body: the text that they were read from.
    package init(_ members: JSONObject, body: [UInt8]) throws(Problem) {
        let reader = MemberReader(members)
        try reader.refuseOthers(than: ["bundleID", "request"])
        bundleID = try reader.field("bundleID", BundleID.init)
        guard let value = members["request"] else { throw .missingField("request") }
        guard let text = try? JSONReader.text(ofMember: "request", in: body), let object = try? JSONObjectText(text)
        else {
            throw .wrongType(field: "request", expected: "an object", found: value.kind)
        }
        request = object
    }

    /// The answer. The request is in the JWS.
    package func body(_ jws: CompactJWS) -> [UInt8] {
        var writer = JSONWriter()
        writer.member("bundleID", utf8: bundleID.text.utf8)
        writer.member("compactJWS", utf8: jws.text)
        return writer.finish()
    }
}
