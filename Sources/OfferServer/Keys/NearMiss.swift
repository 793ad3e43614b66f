/// Tells texts that somebody may have taken for each other.
package enum NearMiss {
    /// Whether two different texts differ in letter case alone, in one character, in two that changed places, or in
    /// characters that look alike (0 and O; 1, I and L).
    package static func isNear(_ one: String, _ other: String) -> Bool {
        guard one != other else { return false }
        let (a, b) = (likeness(one), likeness(other))
        return a == b || differInOne(a, b) || changedPlaces(a, b)
    }

    private static func likeness(_ text: String) -> [Character] {
        text.uppercased().map { character in
            switch character {
            case "O": "0"
            case "I", "L": "1"
            default: character
            }
        }
    }

    /// One character replaced, put in or left out.
    private static func differInOne(_ a: [Character], _ b: [Character]) -> Bool {
        let start = zip(a, b).prefix { $0 == $1 }.count
        let end = zip(a.dropFirst(start).reversed(), b.dropFirst(start).reversed()).prefix { $0 == $1 }.count
        return max(a.count, b.count) - start - end <= 1
    }

    private static func changedPlaces(_ a: [Character], _ b: [Character]) -> Bool {
        let places = zip(a, b).enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset)
        return a.count == b.count && places.count == 2 && places[1] == places[0] + 1 && a[places[0]] == b[places[1]]
            && a[places[1]] == b[places[0]]
    }
}
