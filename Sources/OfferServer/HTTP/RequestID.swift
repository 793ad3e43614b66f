/// Names one request in the answer and in the log, so that a person can find one from the other.
package struct RequestID: Hashable, Sendable {
    /// 16 hexadecimal digits.
    package let text: String

    package init() {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        text = String(repeating: "0", count: 16 - digits.count) + digits
    }
}
