import Glibc
import NIOConcurrencyHelpers

/// Random numbers from the system's cryptographically secure generator, drawn 32 at a time: asking for each would be
/// two system calls an offer.
///
/// They are good for what will be public, such as a nonce. A key is made elsewhere.
package struct SystemRandomNumbers: RandomNumberGenerator, Sendable {
    private static let drawn = NIOLockedValueBox<[UInt64]>([])

    package init() {}

    package func next() -> UInt64 {
        Self.drawn.withLockedValue { drawn in
            if drawn.isEmpty { Self.draw(into: &drawn) }
            // Each is handed out once. Where the system could not be asked for many, it is asked for one.
            return drawn.popLast() ?? .random(in: .min ... .max)
        }
    }

    private static func draw(into drawn: inout [UInt64]) {
        let count = 32  // getentropy(3) gives at most 256 bytes a call
        unsafe drawn = [UInt64](unsafeUninitializedCapacity: count) { numbers, drawnCount in
            let isDrawn = unsafe getentropy(numbers.baseAddress, count * MemoryLayout<UInt64>.size) == 0
            drawnCount = isDrawn ? count : 0
        }
    }
}
