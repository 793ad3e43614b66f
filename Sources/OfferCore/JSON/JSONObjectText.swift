/// The text of a JSON object, byte for byte as somebody wrote it: white space, order and escapes among it.
package struct JSONObjectText: Hashable, Sendable {
    package let utf8: [UInt8]

    /// - Returns: nil for a JSON text of another kind.
    package init?(_ utf8: [UInt8]) throws(JSONError) {
        guard case .object = try JSONReader.read(utf8) else { return nil }
        self.utf8 = utf8
    }
}
