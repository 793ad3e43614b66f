import OfferCore

/// A version of an app, such as `3.10.2`, compared number by number. Missing numbers count as 0.
package struct AppVersion: Comparable, Hashable, Sendable {
    private let numbers: [UInt64]

    /// - Returns: nil unless the text is one to eight numbers separated by dots.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        var numbers: [UInt64] = []
        for part in parts {
            guard !part.isEmpty, part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt64(part) else {
                return nil
            }
            numbers.append(number)
        }
        guard (1...8).contains(numbers.count) else { return nil }
        while numbers.count > 1, numbers.last == 0 { numbers.removeLast() }
        self.numbers = numbers
    }

    package static func < (one: AppVersion, other: AppVersion) -> Bool {
        for place in 0..<max(one.numbers.count, other.numbers.count) {
            let (left, right) = (one[place], other[place])
            if left != right { return left < right }
        }
        return false
    }

    private subscript(place: Int) -> UInt64 { place < numbers.count ? numbers[place] : 0 }
}

extension AppVersion: CustomStringConvertible {
    package var description: String { numbers.map(String.init).joined(separator: ".") }
}
