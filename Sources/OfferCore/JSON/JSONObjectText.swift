/// The text of a JSON object, byte for byte as received, with its white space, member order and escapes.
package struct JSONObjectText: Hashable, Sendable {
    package let utf8: [UInt8]

    /// - Returns: nil if the JSON value is not an object.
    package init?(_ utf8: [UInt8]) throws(JSONError) {
        guard case .object = try JSONReader.read(utf8) else { return nil }
        self.utf8 = utf8
    }
}
