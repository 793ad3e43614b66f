/// The known members of a JSON object. The name of a case is the member's name; its raw value is its index in a reader.
protocol PayloadMember: CodingKey, CaseIterable, RawRepresentable where RawValue == Int {}

/// An index of members by name. It needs no hashing, because few names have the same length.
struct MemberIndex<Member: PayloadMember>: Sendable {
    private struct Entry {
        let name: [UInt8]
        let place: Int
    }

    private let entriesByLength: [[Entry]]
    let count: Int

    init() {
        let entries = Member.allCases.map { Entry(name: Array($0.stringValue.utf8), place: $0.rawValue) }
        let longest = entries.map(\.name.count).max() ?? 0
        entriesByLength = (0...longest).map { length in entries.filter { $0.name.count == length } }
        count = entries.count
    }

    /// - Returns: nil if the name is unknown.
    func place(of name: [UInt8]) -> Int? {
        guard name.count < entriesByLength.count else { return nil }
        for entry in entriesByLength[name.count] where entry.name == name { return entry.place }
        return nil
    }
}
