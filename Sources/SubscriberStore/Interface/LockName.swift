/// A lock name, represented by a number that is the same in all processes. If two names have the same number, their
/// changes wait for each other.
package struct LockName: Hashable, Sendable {
    let number: Int64

    /// - Parameter parts: the parts of the name, in order.
    init(_ kind: String, _ parts: some Sequence<[UInt8]>) {
        // The FNV-1a hash. The length before each part keeps the parts apart.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ bytes: some Sequence<UInt8>) {
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        add(kind.utf8)
        for part in parts {
            add("\(part.count):".utf8)
            add(part)
        }
        number = Int64(bitPattern: hash)
    }
}
