extension Duration {
    /// Reads a duration from the configuration file: a whole number of minutes (`90m`), hours (`12h`) or days (`30d`).
    /// - Returns: nil for anything else, zero, or more than 100 years.
    package init?(configured text: String) {
        guard let unit = text.last, let seconds = ["m": 60, "h": 3600, "d": 86_400][unit] else { return nil }
        let digits = text.dropLast()
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int64(digits), count > 0,
            count <= 36_525 * 86_400 / Int64(seconds)
        else { return nil }
        self = .seconds(count * Int64(seconds))
    }
}
