import FoundationEssentials
import NIOConcurrencyHelpers

/// A text of the time now, made once a second at most.
final class PerSecond<Text: Sendable>: Sendable {
    private let make: @Sendable (Date) -> Text
    private let last = NIOLockedValueBox<(second: Int, text: Text)?>(nil)

    init(_ make: @escaping @Sendable (Date) -> Text) {
        self.make = make
    }

    var now: Text {
        let date = Date()
        let second = Int(date.timeIntervalSince1970.rounded(.down))
        return last.withLockedValue { last in
            if let last, last.second == second { return last.text }
            let text = make(date)
            last = (second, text)
            return text
        }
    }
}
