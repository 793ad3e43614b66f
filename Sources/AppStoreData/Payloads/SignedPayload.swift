/// A payload that Apple signs, decoded from JSON whose signature the caller has verified.
package protocol SignedPayload: Hashable, Sendable {
    static var kind: PayloadKind { get }

    var origin: PayloadOrigin { get }

    /// - Throws: an error if the payload is of another kind or a known member is invalid. Unknown members are ignored.
    init(_ payload: PayloadObject) throws(PayloadError)
}

extension SignedPayload {
    package init(json: [UInt8]) throws(PayloadError) { try self.init(PayloadObject(json: json)) }
}
