extension String {
    /// Whether it is 1 to 64 ASCII letters, digits, dots, hyphens and underscores, so that it stands in a log, or wherever
    /// else, as what it is.
    package var isPlainName: Bool {
        (1...64).contains(utf8.count) && utf8.allSatisfy { $0.isASCIIAlphanumeric || [0x2D, 0x2E, 0x5F].contains($0) }
    }
}
