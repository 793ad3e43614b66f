extension String {
    /// The text on one line, with a question mark for each line break, control character and format character.
    ///
    /// File names and client input can contain anything.
    package var printable: String {
        String(
            map {
                $0.isNewline
                    || $0.unicodeScalars.contains { [.control, .format].contains($0.properties.generalCategory) }
                    ? "?" : $0
            })
    }
}
