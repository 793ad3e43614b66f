/// Decimal numbers with a fixed number of decimals, without Foundation.
enum DecimalText {
    /// - Parameter decimals: 0 to 6.
    static func grouped(_ value: Double, decimals: Int) -> String {
        let (whole, fraction, isNegative) = parts(value, decimals)
        return (isNegative ? "−" : "") + Words.grouped(whole) + fraction
    }

    /// A coordinate in a picture, to a tenth; 0 if it is not finite.
    static func coordinate(_ value: Double) -> String {
        let (whole, fraction, isNegative) = parts(value, 1)
        return (isNegative ? "-" : "") + String(whole) + (fraction == ".0" ? "" : fraction)
    }

    private static func parts(_ value: Double, _ decimals: Int) -> (Int64, String, isNegative: Bool) {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        guard value.isFinite, abs(value) * scale < 9e18 else { return (0, "", false) }
        let scaled = Int64((abs(value) * scale).rounded())
        let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int64(scale))
        let digits = String(rest)
        let zeros = String(repeating: "0", count: decimals - min(decimals, digits.count))
        return (whole, decimals == 0 ? "" : "." + zeros + digits, value < 0 && scaled != 0)
    }
}

extension HTML.StringInterpolation {
    /// A coordinate in a picture.
    mutating func appendInterpolation(_ coordinate: Double) { appendInterpolation(DecimalText.coordinate(coordinate)) }
}
