/// A reader of ours that takes bytes from outside, and what it promises of any of them.
///
/// A new one is a file of its own with a `static let`, a line in ``all``, and a folder of the same name in
/// `Tests/Fuzz/Corpora` with a few small inputs to begin with.
package struct FuzzTarget: Sendable, CustomStringConvertible {
    package let name: String
    private let check: @Sendable ([UInt8]) throws(BrokenPromise) -> Void

    /// - Parameter check: reads the bytes and throws if something that has to hold of them does not.
    init(_ name: String, check: @escaping @Sendable ([UInt8]) throws(BrokenPromise) -> Void) {
        self.name = name
        self.check = check
    }

    package static let all: [FuzzTarget] = [
        .requestReader, .requestFields, .keyText, .userToken, .keySet, .configuration, .evidence, .jws,
    ]

    package func run(_ input: [UInt8]) throws(BrokenPromise) { try check(input) }

    package var description: String { name }
}

/// Something that has to hold of every input, and does not hold of this one.
package struct BrokenPromise: Error {
    package let promise: String
}

/// - Parameter promise: what has to hold.
func promise(_ promise: String, _ holds: Bool) throws(BrokenPromise) {
    guard holds else { throw BrokenPromise(promise: promise) }
}
