import OfferPKCS11

/// A session with the handles of the keys that were used in it. Only one thread may use it at a time.
final class TokenSession {
    let session: PKCS11Session
    /// The generation of the connection in which it was opened.
    let generation: Int
    /// Calls in a row that failed for no known reason.
    var failureCount = 0
    private var found: [PKCS11URI.Key: (object: PKCS11Session.Object, point: [UInt8])] = [:]

    init(_ session: PKCS11Session, generation: Int) {
        self.session = session
        self.generation = generation
    }

    /// Signs a hash.
    /// - Parameter point: the public point that the key must have. Another process may have replaced the key.
    func sign(_ hash: [UInt8], with key: PKCS11URI.Key, of point: [UInt8]) throws(TokenFault) -> [UInt8] {
        let object: PKCS11Session.Object
        if let known = found[key], known.point == point {
            object = known.object
        } else {
            let read = try read(key)
            guard read.point == point else { throw .replaced }
            found[key] = read
            object = read.object
        }
        return try calling { () throws(PKCS11Error) in try session.sign(hash: hash, with: object) }
    }

    /// Finds a key, and checks that it is a P-256 key that can sign and stays in the token.
    /// - Returns: the key and its public point, encoded according to SEC 1 section 2.3.3.
    func read(_ key: PKCS11URI.Key) throws(TokenFault) -> (object: PKCS11Session.Object, point: [UInt8]) {
        let objects = try calling { () throws(PKCS11Error) in try session.objects(.privateKey, key) }
        guard let object = objects.first else { throw .noKey }
        guard objects.count == 1 else { throw .severalKeys }
        guard try calling({ () throws(PKCS11Error) in try session.isEllipticCurve(object) }) else {
            throw .notEllipticCurve
        }
        guard try value(.extractable, of: object) == Self.no, try value(.sensitive, of: object) == Self.yes else {
            throw .extractable
        }
        guard try value(.sign, of: object) == Self.yes else { throw .cannotSign }
        guard try value(.alwaysAuthenticate, of: object) ?? Self.no == Self.no else { throw .asksEachTime }
        return (object, try point(of: object, key))
    }

    private static let (yes, no): ([UInt8], [UInt8]) = ([1], [0])

    /// `prime256v1` as the attribute CKA_EC_PARAMS: its object identifier in DER (RFC 5480 section 2.1.1.1).
    private static let p256: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]

    /// Reads the point of the public key that belongs to a private key. Few tokens give it with the private key.
    private func point(of privateKey: PKCS11Session.Object, _ key: PKCS11URI.Key) throws(TokenFault) -> [UInt8] {
        let identifier = try value(.identifier, of: privateKey) ?? []
        let publicKeys = try calling { () throws(PKCS11Error) in
            try session.objects(.publicKey, identifier.isEmpty ? key : PKCS11URI.Key(identifier: identifier))
        }
        guard publicKeys.count < 2 else { throw .severalKeys }
        let object = publicKeys.first ?? privateKey
        guard let point = try value(.ecPoint, of: object), !point.isEmpty else { throw .noPublicKey }
        guard try value(.ecParameters, of: object) == Self.p256 else { throw .notP256 }
        // A DER OCTET STRING of 65 bytes. Some modules leave out its tag and length.
        if point.count == 67, point.starts(with: [0x04, 0x41]) { return Array(point.dropFirst(2)) }
        guard point.count == 65 else { throw .badPublicKey }
        return point
    }

    private func value(
        _ attribute: PKCS11Session.Attribute, of object: PKCS11Session.Object
    ) throws(TokenFault) -> [UInt8]? {
        try calling { () throws(PKCS11Error) in try session.attribute(attribute, of: object) }
    }

    private func calling<Result>(_ body: () throws(PKCS11Error) -> Result) throws(TokenFault) -> Result {
        do throws(PKCS11Error) { return try body() } catch { throw .module(error) }
    }
}
