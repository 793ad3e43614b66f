import Glibc
import NIOConcurrencyHelpers

/// A source of random numbers from the system's cryptographically secure generator. It fetches 32 numbers at a time.
///
/// Fetching them one at a time would cost two system calls per offer.
///
/// Use this type for public values such as nonces. For secrets, use ``RandomSecret``.
package struct SystemRandomNumbers: RandomNumberGenerator, Sendable {
    private static let drawn = NIOLockedValueBox<[UInt64]>([])

    package init() {}

    package func next() -> UInt64 {
        Self.drawn.withLockedValue { drawn in
            if drawn.isEmpty { Self.draw(into: &drawn) }
            // Each number is used once. If the batch could not be fetched, a single number is fetched instead.
            return drawn.popLast() ?? .random(in: .min ... .max)
        }
    }

    private static func draw(into drawn: inout [UInt64]) {
        let count = 32  // getentropy(3) returns at most 256 bytes per call
        unsafe drawn = [UInt64](unsafeUninitializedCapacity: count) { numbers, drawnCount in
            let isDrawn = unsafe getentropy(numbers.baseAddress, count * MemoryLayout<UInt64>.size) == 0
            drawnCount = isDrawn ? count : 0
        }
    }
}
