/// Numbers in sentences.
enum Words {
    /// `1 day`, `3 days`, `1,204 redemptions`.
    static func count(_ number: Int, _ noun: String, plural: String? = nil) -> String {
        grouped(Int64(number)) + " " + (number == 1 ? noun : plural ?? noun + "s")
    }

    /// The number with a comma between each three digits.
    static func grouped(_ number: Int64) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "−" : ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }
}
