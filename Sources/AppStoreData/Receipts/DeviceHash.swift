import OfferCore
import OfferCrypto

/// The identifier of the device for which a receipt was made, as the app reports it.
package struct DeviceIdentifier: Hashable, Sendable {
    package let bytes: [UInt8]

    /// - Parameter bytes: the 16 bytes of `identifierForVendor`, or on macOS and Mac Catalyst the 6 bytes of the
    ///   primary network interface's MAC address.
    /// - Returns: nil for any other size.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 || bytes.count == 6 else { return nil }
        self.bytes = bytes
    }

    /// - Parameter hexadecimal: the same bytes, each as two hexadecimal digits.
    package init?(hexadecimal text: String) {
        guard let bytes = Hexadecimal.bytes(of: text, count: text.utf8.count / 2) else { return nil }
        self.init(bytes)
    }
}

/// The hash by which a receipt identifies its device: SHA-1 of the device's identifier, an opaque value and the bundle
/// ID.
///
/// Source: Apple, "Validating receipts on the device".
package struct DeviceHash: Hashable, Sendable {
    private let hash: [UInt8]
    private let opaqueValue: [UInt8]
    /// The bundle ID in DER, with its tag and length.
    private let bundleID: [UInt8]

    /// - Returns: nil unless all three attributes are present.
    init?(_ fields: ReceiptFields<ReceiptPayload.Name>) throws(ReceiptPayloadError) {
        guard let hash = fields[.deviceHash] else { return nil }
        guard hash.count == 20 else {
            throw ReceiptPayloadError(.wrongSize, attribute: ReceiptPayload.Name.deviceHash.rawValue)
        }
        guard let opaqueValue = fields[.opaqueValue], let bundleID = fields[.bundleID] else { return nil }
        self.hash = Array(hash)
        self.opaqueValue = Array(opaqueValue)
        self.bundleID = Array(bundleID)
    }

    func matches(_ device: DeviceIdentifier) throws(OpenSSLError) -> Bool {
        try SHA1.hash(device.bytes + opaqueValue + bundleID) == hash
    }
}
