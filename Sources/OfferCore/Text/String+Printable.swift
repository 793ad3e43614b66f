extension String {
    /// The text on one line, for an operator: what ends a line or commands a terminal is a question mark. The names of files
    /// may hold anything, and so may what somebody sent.
    package var printable: String {
        String(
            map {
                $0.isNewline
                    || $0.unicodeScalars.contains { [.control, .format].contains($0.properties.generalCategory) }
                    ? "?" : $0
            })
    }
}
