/// Numbers as text, always with the same digits for the same number.
package enum FixedText {
    /// - Parameter decimals: 0 to 9.
    /// - Returns: a plain number with a point, such as `-0.25`; `0` if the number is too large for its decimals.
    package static func number(_ value: Double, decimals: Int) -> String {
        let scale = (0..<decimals).reduce(1.0) { power, _ in power * 10 }
        guard value.isFinite, abs(value) * scale < 9e18 else { return "0" }
        let scaled = Int64((abs(value) * scale).rounded())
        let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int64(scale))
        let digits = String(rest)
        let fraction = decimals == 0 ? "" : "." + String(repeating: "0", count: decimals - digits.count) + digits
        return (value < 0 && scaled != 0 ? "-" : "") + String(whole) + fraction
    }

    /// A whole number with a comma between each three digits.
    package static func grouped(_ number: Int) -> String {
        let digits = String(abs(number))
        var text = number < 0 ? "-" : ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }

    /// A share or a difference of shares in points of a hundred, such as `3.2`.
    package static func points(_ value: Double) -> String { number(value * 100, decimals: 1) }

    /// An amount in thousandths of a currency, such as `9.99`.
    package static func amount(_ thousandths: Double) -> String { number(thousandths / 1000, decimals: 2) }
}
