import OfferCore
import OfferEligibility

extension JSONWriter {
    /// Writes the member `reasons`, with the values behind each reason.
    mutating func reasons(_ reasons: [DecisionReason]) {
        objects("reasons", reasons) { writer, reason in
            writer.member("code", reason.code.rawValue)
            writer.member("text", reason.text)
            if let fact = reason.fact { writer.member("fact", fact) }
            if let found = reason.found { writer.member("found", found) }
            if let required = reason.required { writer.member("required", required) }
            if let missing = reason.missing { writer.member("missing", missing.rawValue) }
        }
    }

    /// Writes the member `reasons` with the codes only.
    mutating func reasons(_ codes: [ReasonCode]) {
        objects("reasons", codes) { writer, code in writer.member("code", code.rawValue) }
    }

    private mutating func member(_ name: String, _ value: ReasonValue) {
        begin(name)
        self.value(value)
    }

    /// Writes a value. Times are in milliseconds, and durations have the form of the configuration file.
    private mutating func value(_ value: ReasonValue) {
        switch value {
        case .text(let text): self.value(text)
        case .number(let number): self.value(number)
        case .bool(let bool): self.value(bool)
        case .time(let time): self.value(time.milliseconds)
        case .duration(let duration): self.value(duration.configurationText)
        case .list(let values): self.values(values) { $0.value($1) }
        case .members(let members):
            object { writer in
                for member in members { writer.member(member.name, member.value) }
            }
        }
    }
}
