/// A text that must not be printed: every way of printing it shows a placeholder.
package struct Secret: Sendable {
    /// The text itself, for the one place that needs it.
    package let reveal: String

    package init(_ text: String) {
        reveal = text
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "(secret)" }
    package var debugDescription: String { "(secret)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
