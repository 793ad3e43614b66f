package import OfferCore

/// A reader of key sets. It is used only in the background and may take a long time.
package protocol KeySetSource: Sendable {
    /// Reads the text at `place`.
    func text(at place: KeySetLocation) async throws(KeySetFault) -> KeySetText

    /// Parses the text of a key set.
    /// - Parameter place: the location, which is the name of the set in diagnostics.
    /// - Returns: at least one key, and the problems with other keys.
    /// - Throws: `.unavailable` if the text is not a key set; `.unusable` if it has no usable key, or a private or
    ///   symmetric one.
    func keys(
        in text: [UInt8], from place: KeySetLocation
    ) async throws(KeySetFault) -> (set: UserKeySet, problems: [Diagnostic])

    /// Releases the resources used for reading.
    func close() async
}
