import OfferCore

extension JSONWriter {
    /// Writes the member `reasons`.
    /// - Parameter showsDetails: false for the codes alone.
    mutating func reasons(_ reasons: [DecisionReason], showsDetails: Bool) {
        guard showsDetails else {
            var seen: Set<ReasonCode> = []
            return objects("reasons", reasons.map(\.code).filter { seen.insert($0).inserted }) {
                $0.member("code", $1.rawValue)
            }
        }
        objects("reasons", reasons) { writer, reason in
            writer.member("code", reason.code.rawValue)
            writer.member("text", reason.text)
            if let fact = reason.fact { writer.member("fact", fact) }
            if let found = reason.found { writer.rawValue("found", found.json) }
            if let required = reason.required { writer.rawValue("required", required.json) }
            if let missing = reason.missing { writer.member("missing", missing.rawValue) }
        }
    }
}

extension ReasonValue {
    /// Times are in milliseconds; durations are written as in the configuration file.
    fileprivate var json: [UInt8] {
        switch self {
        case .text(let text): JSONWriter.string(Array(text.utf8))
        case .number(let number):
            Array((Int64(exactly: number).map(String.init) ?? String(number)).utf8)
        case .bool(let bool): Array((bool ? "true" : "false").utf8)
        case .time(let time): Array(String(time.milliseconds).utf8)
        case .duration(let duration): JSONWriter.string(Array(duration.configurationText.utf8))
        case .list(let values):
            [UInt8(ascii: "[")] + values.map(\.json).joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
        case .members(let members):
            [UInt8(ascii: "{")]
                + JSONWriter.members { writer in
                    for member in members { writer.rawValue(member.name, member.value.json) }
                } + [UInt8(ascii: "}")]
        }
    }
}
