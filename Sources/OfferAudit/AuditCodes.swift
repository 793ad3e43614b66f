package import OfferCore
package import OfferCrypto

/// The text that represents a person in the audit trail.
package struct AuditCodes: Sendable {
    /// Computes the HMAC that represents a customer.
    let customer: @Sendable ([UInt8]) throws -> [UInt8]
    /// Returns the text that represents an address, as ASCII; nil if the trail contains no addresses.
    let address: (@Sendable (IPAddress) throws -> [UInt8])?

    package init(
        customer: @escaping @Sendable ([UInt8]) throws -> [UInt8],
        address: (@Sendable (IPAddress) throws -> [UInt8])? = nil
    ) {
        self.customer = customer
        self.address = address
    }
}

/// The keys of an audit trail, which derive from one secret.
struct AuditKeys: Sendable {
    let customers: HMACSHA256Key
    let addresses: HMACSHA256Key
    /// The key of lines with an HMAC.
    let chain: HMACSHA256Key
    /// Identifies the secret without revealing it, in hexadecimal.
    let id: String

    /// - Parameter secret: not empty.
    init(_ secret: [UInt8]) throws(OpenSSLError) {
        customers = try HMACSHA256Key(secret)
        // The codes of customers are in the trail and anyone can choose a username. The labels are therefore not valid
        // UTF-8, so that no derived key is also the code of a customer.
        addresses = try HMACSHA256Key(customers.code(of: [0xFF] + "audit address".utf8))
        chain = try HMACSHA256Key(customers.code(of: [0xFF] + "audit chain".utf8))
        id = Hexadecimal.text(of: Array(try SHA256.hash(secret).prefix(8)))
    }

    /// - Returns: the text of an address under this setting.
    func codes(_ addresses: AuditSettings.Addresses) -> AuditCodes {
        switch addresses {
        case .off: AuditCodes(customer: customers.code(of:))
        case .plain: AuditCodes(customer: customers.code(of:)) { Array($0.description.utf8) }
        case .hmac:
            AuditCodes(customer: customers.code(of:)) { [key = self.addresses] address in
                Hexadecimal.utf8(of: try key.code(of: Array(address.description.utf8)))
            }
        }
    }
}

extension AuditSettings {
    /// Returns the key of lines with an HMAC.
    /// - Parameter key: the audit key.
    package static func chainKey(_ key: Secret) throws(OpenSSLError) -> HMACSHA256Key {
        try AuditKeys(Array(key.reveal.utf8)).chain
    }
}
