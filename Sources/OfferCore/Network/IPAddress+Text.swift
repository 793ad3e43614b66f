extension IPAddress: CustomStringConvertible {
    /// The canonical text: four decimal numbers for IPv4, otherwise as in RFC 5952.
    package var description: String {
        let groups = groups
        if isV4 {
            return groups.suffix(2).flatMap { ["\($0 >> 8)", "\($0 & 0xFF)"] }.joined(separator: ".")
        }
        // The longest run of at least two zero groups becomes `::`; among equally long runs, the first.
        let zeros = groups.indices.map { begin in begin..<begin + groups[begin...].prefix { $0 == 0 }.count }
        guard let run = zeros.max(by: { $0.count < $1.count || $0.count == $1.count && $0.lowerBound > $1.lowerBound }),
            run.count >= 2
        else { return Self.text(of: groups[...]) }
        return Self.text(of: groups[..<run.lowerBound]) + "::" + Self.text(of: groups[run.upperBound...])
    }

    private static func text(of groups: ArraySlice<UInt16>) -> String {
        groups.map { String($0, radix: 16) }.joined(separator: ":")
    }
}
