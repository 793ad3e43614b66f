import OfferCore

extension ReasonValue {
    static func texts(_ texts: some Sequence<String>) -> ReasonValue { .list(texts.sorted().map { .text($0) }) }

    init<Value>(_ bounds: Bounds<Value>, _ value: (Value) -> ReasonValue) {
        let members = [("atLeast", bounds.atLeast), ("atMost", bounds.atMost)]
        self = .members(members.compactMap { name, bound in bound.map { Member(name, value($0)) } })
    }

    init(_ range: DateRange) {
        let members = [("from", range.from), ("until", range.until)]
        self = .members(members.compactMap { name, time in time.map { Member(name, .time($0)) } })
    }

    init(_ range: VersionRange) {
        let members = [("from", range.from), ("before", range.before)]
        self = .members(members.compactMap { name, version in version.map { Member(name, .text($0.description)) } })
    }

    /// The value as part of a sentence.
    package var sentencePart: String {
        var text = ""
        append(to: &text)
        return text
    }

    /// Appends the value as part of a sentence.
    func append(to text: inout String) {
        switch self {
        case .text(let value): text += value
        case .number(let number):
            text += number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
        case .bool(let bool): text += bool ? "true" : "false"
        case .time(let time): text += String(decoding: time.iso8601.prefix(10), as: UTF8.self)
        case .duration(let duration): text += duration.configurationText
        case .list(let values):
            for (place, value) in values.enumerated() {
                if place > 0 { text += " or " }
                value.append(to: &text)
            }
        case .members(let members):
            for (place, member) in members.enumerated() {
                if place > 0 { text += " and " }
                text += member.words
                text += " "
                member.value.append(to: &text)
            }
        }
    }
}

extension ReasonValue.Member {
    fileprivate var words: String {
        switch name {
        case "atLeast": "at least"
        case "atMost": "at most"
        default: name
        }
    }
}

extension Duration {
    /// The duration in whole minutes, hours or days, in the format of the configuration file.
    package var configurationText: String {
        let seconds = components.seconds
        if seconds % 86_400 == 0 { return "\(seconds / 86_400)d" }
        if seconds % 3600 == 0 { return "\(seconds / 3600)h" }
        return "\(seconds / 60)m"
    }
}
