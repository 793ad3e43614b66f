/// A string that must not be printed. Every way of printing it shows a placeholder.
package struct Secret: Hashable, Sendable {
    /// The secret itself.
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
