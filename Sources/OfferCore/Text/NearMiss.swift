/// A detector of likely typing errors.
package enum NearMiss {
    /// Returns true if two different strings differ only in letter case, look-alike characters (0 and O; 1, I and L),
    /// one character, or two adjacent characters that are swapped.
    package static func isNear(_ one: String, _ other: String) -> Bool {
        guard one != other else { return false }
        let (a, b) = (folded(one), folded(other))
        return a == b || differByOneEdit(a, b) || differByASwap(a, b)
    }

    /// Returns a hint with the first of `names` that is similar to `name`; nil if there is none.
    package static func suggestion(for name: String, among names: [String]) -> String? {
        names.first { isNear($0, name) }.map { "did you mean \($0)?" }
    }

    private static func folded(_ text: String) -> [Character] {
        text.uppercased().map { character in
            switch character {
            case "O": "0"
            case "I", "L": "1"
            default: character
            }
        }
    }

    /// Returns true if at most one character was replaced, inserted or omitted.
    private static func differByOneEdit(_ a: [Character], _ b: [Character]) -> Bool {
        let start = zip(a, b).prefix { $0 == $1 }.count
        let end = zip(a.dropFirst(start).reversed(), b.dropFirst(start).reversed()).prefix { $0 == $1 }.count
        return max(a.count, b.count) - start - end <= 1
    }

    private static func differByASwap(_ a: [Character], _ b: [Character]) -> Bool {
        let places = zip(a, b).enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset)
        return a.count == b.count && places.count == 2 && places[1] == places[0] + 1 && a[places[0]] == b[places[1]]
            && a[places[1]] == b[places[0]]
    }
}
