import TestSupport

/// The fields of a certificate to make. What a test does not change is valid.
struct TestCertificate {
    var subject: String
    var issuer: String
    var serialNumber = 1
    var notBefore = TestTime.start
    var notAfter = TestTime.end
    /// SubjectPublicKeyInfo in ASN.1 DER.
    var publicKey: [UInt8]
    var extensions: [Extension]
    /// The digest of the signature.
    var digest = "sha256"
    /// The signature algorithm inside the signed part, where it differs from the one outside.
    var innerAlgorithm: [UInt8]?

    struct Extension: Sendable {
        let oid: String
        var isCritical = false
        let value: [UInt8]

        static func basicConstraints(isCA: Bool, pathLength: Int? = nil, isCritical: Bool = true) -> Extension {
            let content = (isCA ? DER.boolean(true) : []) + (pathLength.map(DER.integer) ?? [])
            return Extension(oid: "2.5.29.19", isCritical: isCritical, value: DER.sequence(content))
        }

        /// - Parameter bits: as in RFC 5280 section 4.2.1.3; digitalSignature is 0x80, keyCertSign is 0x04.
        static func keyUsage(_ bits: UInt8) -> Extension {
            let unused = UInt8(bits.trailingZeroBitCount)
            return Extension(oid: "2.5.29.15", isCritical: true, value: DER.bitString([bits], unused: unused))
        }

        /// A marker of Apple's, whose value is NULL.
        static func marker(_ oid: String, isCritical: Bool = false) -> Extension {
            Extension(oid: oid, isCritical: isCritical, value: DER.null)
        }

        static func subjectKeyIdentifier(_ identifier: [UInt8]) -> Extension {
            Extension(oid: "2.5.29.14", value: DER.octetString(identifier))
        }

        static func authorityKeyIdentifier(_ identifier: [UInt8]) -> Extension {
            Extension(oid: "2.5.29.35", value: DER.sequence(DER.value(0x80, identifier)))
        }

        /// Permits the DNS names below example.com.
        static func nameConstraints(isCritical: Bool) -> Extension {
            let subtree = DER.sequence(DER.value(0x82, Array("example.com".utf8)))
            return Extension(
                oid: "2.5.29.30", isCritical: isCritical, value: DER.sequence(DER.value(0xA0, subtree)))
        }

        /// The authority information access with the URLs of OCSP responders.
        static func ocspResponders(_ urls: String...) -> Extension {
            let descriptions = urls.flatMap { url in
                DER.sequence(DER.oid("1.3.6.1.5.5.7.48.1"), DER.value(0x86, Array(url.utf8)))
            }
            return Extension(oid: "1.3.6.1.5.5.7.1.1", value: DER.sequence(descriptions))
        }

        static func subjectAlternativeName(_ name: String) -> Extension {
            Extension(oid: "2.5.29.17", value: DER.sequence(DER.value(0x82, Array(name.utf8))))
        }

        fileprivate var der: [UInt8] {
            DER.sequence(DER.oid(oid), isCritical ? DER.boolean(true) : [], DER.octetString(value))
        }
    }

    /// - Returns: the certificate in DER.
    func signed(by key: TestKey) throws -> [UInt8] {
        let algorithm = try Self.algorithm(digest, isRSA: key.isRSA)
        let body = DER.sequence(
            DER.value(0xA0, DER.integer(2)), DER.integer(serialNumber), innerAlgorithm ?? algorithm, Self.name(issuer),
            DER.sequence(DER.time(notBefore), DER.time(notAfter)), Self.name(subject), publicKey,
            extensions.isEmpty ? [] : DER.value(0xA3, DER.value(0x30, extensions.flatMap(\.der))))
        return DER.sequence(body, algorithm, DER.bitString(try key.sign(body, digest)))
    }

    /// Removes the extensions with an OID.
    mutating func remove(_ oid: String) { extensions.removeAll { $0.oid == oid } }

    /// Puts an extension in place of those with its OID.
    mutating func put(_ replacement: Extension) {
        remove(replacement.oid)
        extensions.append(replacement)
    }

    static func algorithm(_ digest: String, isRSA: Bool) throws -> [UInt8] {
        let oids =
            isRSA
            ? ["md5": "1.2.840.113549.1.1.4", "sha1": "1.2.840.113549.1.1.5", "sha256": "1.2.840.113549.1.1.11"]
            : ["sha1": "1.2.840.10045.4.1", "sha256": "1.2.840.10045.4.3.2", "sha384": "1.2.840.10045.4.3.3"]
        guard let oid = oids[digest] else { throw TestKeyError() }
        return DER.sequence(DER.oid(oid), isRSA ? DER.null : [])
    }

    /// A name with only a common name.
    static func name(_ text: String) -> [UInt8] {
        DER.sequence(DER.set(DER.sequence(DER.oid("2.5.4.3"), DER.utf8String(text))))
    }
}

/// The times of the tests, in seconds since 1970.
enum TestTime {
    static let start: Int64 = 1_700_000_000
    /// The time of signing, and now.
    static let now: Int64 = 1_750_000_000
    static let end: Int64 = 1_800_000_000
}
