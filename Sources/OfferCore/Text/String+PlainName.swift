extension String {
    /// True if the text consists of 1 to 64 ASCII letters, digits, dots, hyphens and underscores. These names need no
    /// escaping in logs or elsewhere.
    package var isPlainName: Bool {
        (1...64).contains(utf8.count) && utf8.allSatisfy { $0.isASCIIAlphanumeric || [0x2D, 0x2E, 0x5F].contains($0) }
    }
}
