package import OfferCore
import OfferEligibility

/// The body of `POST /v1/advanced-commerce`: an in-app request for the Advanced Commerce API.
package struct AdvancedCommerceRequest: Hashable, Sendable {
    package let bundleID: BundleID
    /// The request, signed byte for byte as sent, because another parser could read a rewritten request differently.
    package let request: JSONObjectText
    /// The customer in Apple's `requestInfo.appAccountToken`; nil if this member is missing, or is not a UUID. The App
    /// Store refuses other values.
    package let customer: Customer?

    /// The maximum size of the request, in bytes. Its JWS is 16/9 times as large and must fit into a request to
    /// `/v1/explanations`.
    package static let maximumSize = 16 * 1024

    /// - Parameters:
    ///   - members: the members of `body`.
    ///   - body: the JSON text of the members.
    package init(_ members: JSONObject, body: [UInt8]) throws(Problem) {
        do throws(MemberError) {
            let reader = MemberReader(members)
            try reader.refuseOthers(than: ["bundleID", "request"])
            bundleID = try reader.field("bundleID", BundleID.init)
        } catch {
            throw Problem(error)
        }
        guard let value = members["request"] else { throw .missingField("request") }
        guard case .object(let object) = value else {
            throw .wrongType(field: "request", expected: "an object", found: value.kind)
        }
        // Apple accepts only requests that name an operation, so an empty object is refused.
        guard !object.members.isEmpty else { throw .invalidField(FieldError(field: "request", reason: .empty)) }
        guard let text = try? JSONReader.text(ofMember: "request", in: body), let request = try? JSONObjectText(text)
        else {
            throw .wrongType(field: "request", expected: "an object", found: value.kind)
        }
        guard text.count <= Self.maximumSize else {
            throw .invalidField(FieldError(field: "request", reason: .tooLong(maximumBytes: Self.maximumSize)))
        }
        self.request = request
        customer = Self.customer(in: object)
    }

    private static func customer(in request: JSONObject) -> Customer? {
        guard case .object(let info)? = request["requestInfo"], case .string(let token)? = info["appAccountToken"]
        else {
            return nil
        }
        return try? Customer(appAccountToken: token)
    }

    /// Returns the response body. The JWS contains the request.
    package func body(_ jws: CompactJWS) -> [UInt8] {
        var writer = JSONWriter()
        writer.member("bundleID", utf8: bundleID.text.utf8)
        writer.member("compactJWS", utf8: jws.text)
        return writer.finish()
    }
}
