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
            if let found = reason.found { writer.member("found", found) }
            if let required = reason.required { writer.member("required", required) }
            if let missing = reason.missing { writer.member("missing", missing.rawValue) }
        }
    }

    /// Times are in milliseconds; durations are written as in the configuration file.
    fileprivate mutating func member(_ name: String, _ value: ReasonValue) {
        switch value {
        case .text(let text): member(name, text)
        case .number(let number):
            if let number = Int64(exactly: number) { member(name, number) } else { rawValue(name, value.json) }
        case .bool(let bool): member(name, bool)
        case .time(let time): member(name, time.milliseconds)
        case .duration(let duration): member(name, duration.configurationText)
        case .list: rawValue(name, value.json)
        case .members(let members):
            object(name) { writer in for member in members { writer.member(member.name, member.value) } }
        }
    }
}

extension ReasonValue {
    /// The value on its own, as in a list.
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
                    for member in members { writer.member(member.name, member.value) }
                } + [UInt8(ascii: "}")]
        }
    }
}
