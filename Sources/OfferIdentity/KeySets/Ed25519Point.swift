/// Validation of encoded Ed25519 points (RFC 8032 section 5.1.2) that are used as public keys.
enum Ed25519Point {
    /// Returns true if the point is canonically encoded and not of small order. libcrypto accepts points that fail this
    /// check.
    /// - Parameter text: 32 bytes, little-endian: y, with the sign of x in the highest bit.
    static func isAcceptable(_ text: [UInt8]) -> Bool {
        guard text.count == 32 else { return false }
        var y = text
        y[31] &= 0x7F
        // A canonical y is less than p = 2^255 - 19.
        let isLarge = y[31] == 0x7F && y[1..<31].allSatisfy { $0 == 0xFF } && y[0] >= 0xED
        return !isLarge && !smallOrder.contains(y)
    }

    /// The y coordinates of the eight points whose order divides 8. With such a point as the key, one signature can be
    /// valid for many messages.
    ///
    /// Source: C. Cremers and D. Jackson, "Prime, Order Please!" (2019), table 6; libsodium refuses the same points.
    private static let smallOrder: Set<[UInt8]> = [
        [UInt8](repeating: 0, count: 32),
        [1] + [UInt8](repeating: 0, count: 31),
        [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0, 0xD5, 0xDF,
            0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F, 0x2A, 0x20,
            0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],
    ]
}
