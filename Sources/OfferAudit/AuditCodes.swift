package import OfferCore
package import OfferCrypto

/// The functions that compute the codes for customers and addresses in the audit trail.
package struct AuditCodes: Sendable {
    /// Computes the HMAC that represents a customer.
    let customer: @Sendable ([UInt8]) throws -> [UInt8]
    /// Returns the ASCII text that represents an address. The function is nil if the trail records no addresses.
    let address: (@Sendable (IPAddress) throws -> [UInt8])?

    package init(
        customer: @escaping @Sendable ([UInt8]) throws -> [UInt8],
        address: (@Sendable (IPAddress) throws -> [UInt8])? = nil
    ) {
        self.customer = customer
        self.address = address
    }
}

/// The keys of an audit trail, derived from one secret.
struct AuditKeys: Sendable {
    let customers: HMACSHA256Key
    let addresses: HMACSHA256Key
    /// The key of lines with an HMAC.
    let chain: HMACSHA256Key
    /// An identifier of the secret that does not reveal it, in hexadecimal.
    let id: String

    /// - Parameter secret: must not be empty.
    init(_ secret: [UInt8]) throws(OpenSSLError) {
        customers = try HMACSHA256Key(secret)
        // The trail contains customer codes, and anyone can choose a username. The labels are not valid UTF-8, so no
        // derived key equals a customer code.
        addresses = try HMACSHA256Key(customers.code(of: [0xFF] + "audit address".utf8))
        chain = try HMACSHA256Key(customers.code(of: [0xFF] + "audit chain".utf8))
        id = Hexadecimal.text(of: Array(try SHA256.hash(secret).prefix(8)))
    }

    /// Returns the functions that compute the codes, with addresses in this form.
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
    /// Derives the key of lines with an HMAC.
    /// - Parameter key: the audit key.
    package static func chainKey(_ key: Secret) throws(OpenSSLError) -> HMACSHA256Key {
        try AuditKeys(Array(key.reveal.utf8)).chain
    }
}
