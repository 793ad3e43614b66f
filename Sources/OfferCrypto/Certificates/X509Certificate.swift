import COpenSSL
import OfferCore

/// A parsed X.509 certificate (RFC 5280) owned by libcrypto. Parsing does not verify its signature.
@safe package final class X509Certificate: Sendable {
    // The certificate is never changed after init, which also fills libcrypto's cache of the extensions. libcrypto
    // guards any later caching with its own locks, so threads can share it. See openssl-threads(7).
    nonisolated(unsafe) let pointer: OpaquePointer

    /// The bytes as received.
    package let der: [UInt8]
    /// SHA-256 of ``der``.
    package let digest: [UInt8]
    /// SHA-256 of the issuer's name and the serial number. No authority uses a serial number twice. Unlike ``digest``,
    /// it does not depend on the signature. If an ECDSA signature (r, s) is valid, so is (r, n - s), which anyone can
    /// compute.
    package let identity: [UInt8]
    /// The first second at which the certificate is valid, in seconds since 1970.
    package let notBefore: Int64
    /// The last second at which the certificate is valid, in seconds since 1970.
    package let notAfter: Int64

    /// The maximum size in bytes. Apple's certificates take about 1 to 2 KiB.
    package static let maximumSize = 16 * 1024

    /// - Parameter der: one certificate in ASN.1 DER, without trailing bytes.
    package init(der: [UInt8]) throws(CertificateError) {
        guard der.count <= Self.maximumSize else { throw .tooLarge }
        ERR_clear_error()
        let parsed = try unsafe Self.parse(der)
        do throws(CertificateError) {
            (digest, identity, notBefore, notAfter) = try unsafe Self.fields(of: parsed, der: der)
        } catch {
            // `deinit` does not run if the initializer throws before all properties have values.
            unsafe X509_free(parsed)
            throw error
        }
        unsafe pointer = unsafe parsed
        self.der = der
    }

    /// Shares a certificate that libcrypto has already parsed. Parsing takes 0.1 ms, mostly for the key.
    init(sharing certificate: OpaquePointer) throws(CertificateError) {
        ERR_clear_error()
        der = unsafe Self.encode(certificate)
        guard der.count <= Self.maximumSize else { throw .tooLarge }
        (digest, identity, notBefore, notAfter) = try unsafe Self.fields(of: certificate, der: der)
        unsafe X509_up_ref(certificate)
        unsafe pointer = unsafe certificate
    }

    deinit { unsafe X509_free(pointer) }

    /// The subject in the form of RFC 2253, in ASCII, shortened to 512 characters.
    package var subject: String { unsafe CertificateName.text(of: X509_get_subject_name(pointer)) }

    /// The issuer, in the form of ``subject``.
    package var issuer: String { unsafe CertificateName.text(of: X509_get_issuer_name(pointer)) }

    /// The serial number in lower-case hexadecimal digits, two per byte, with a minus sign if it is negative.
    package var serialNumber: String {
        let number = unsafe X509_get0_serialNumber(pointer)
        let digits = Hexadecimal.text(of: unsafe CertificateText.bytes(of: number))
        return unsafe ASN1_STRING_type(number) == V_ASN1_NEG_INTEGER ? "-" + digits : digits
    }

    /// Returns true if the certificate has an extension, critical or not.
    /// - Parameter oid: the identifier in dotted form, such as `1.2.840.113635.100.6.11.1`.
    package func hasExtension(_ oid: String) -> Bool {
        guard let object = unsafe OBJ_txt2obj(oid, 1) else { return false }
        defer { unsafe ASN1_OBJECT_free(object) }
        return unsafe X509_get_ext_by_OBJ(pointer, object, -1) >= 0
    }

    /// True if the basic constraints mark this as a CA, and the key usage, if any, allows it to sign certificates.
    package var isCA: Bool { unsafe X509_check_ca(pointer) == 1 }

    /// The public key, which must be on P-256.
    package var verifyingKey: VerifyingKey {
        get throws(OpenSSLError) {
            guard let key = unsafe X509_get0_pubkey(pointer) else { throw .draining(after: "X509_get0_pubkey") }
            return try unsafe VerifyingKey(der: PublicKeyWriter.der(of: key))
        }
    }

    /// The URLs of the OCSP responders named in the authority information access (RFC 5280 section 4.2.2.1).
    package var ocspURLs: [String] {
        guard let urls = unsafe X509_get1_ocsp(pointer) else { return [] }
        defer { unsafe X509_email_free(urls) }
        let count = unsafe OPENSSL_sk_num(urls)
        return (0..<max(count, 0)).compactMap { index in
            unsafe OPENSSL_sk_value(urls, index).map { unsafe String(cString: $0.assumingMemoryBound(to: CChar.self)) }
        }
    }

    private static func parse(_ der: [UInt8]) throws(CertificateError) -> OpaquePointer {
        var consumed = 0
        let parsed = unsafe der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            guard let parsed = unsafe d2i_X509(nil, &cursor, buffer.count) else { return nil }
            if let start = buffer.baseAddress, let cursor = unsafe cursor { consumed = unsafe cursor - start }
            return unsafe parsed
        }
        guard let parsed = unsafe parsed else { throw .unreadable(.draining(after: "d2i_X509")) }
        guard consumed == der.count else {
            unsafe X509_free(parsed)
            throw .trailingBytes
        }
        return unsafe parsed
    }

    private static func fields(
        of parsed: OpaquePointer, der: [UInt8]
    ) throws(CertificateError) -> (digest: [UInt8], identity: [UInt8], notBefore: Int64, notAfter: Int64) {
        guard unsafe encode(parsed) == der else { throw .notDER }
        do throws(OpenSSLError) {
            // This also fails if an extension that libcrypto knows is malformed or occurs twice.
            guard unsafe X509_check_purpose(parsed, -1, 0) == 1 else { throw .draining(after: "X509_check_purpose") }
            return (
                try SHA256.hash(der), try unsafe SHA256.hash(issuerAndSerialNumber(of: parsed)),
                try unsafe CertificateTime.seconds(X509_get0_notBefore(parsed)),
                try unsafe CertificateTime.seconds(X509_get0_notAfter(parsed))
            )
        } catch {
            throw .unreadable(error)
        }
    }

    private static func issuerAndSerialNumber(of certificate: OpaquePointer) -> [UInt8] {
        var (name, size): (UnsafePointer<UInt8>?, Int) = (nil, 0)
        guard unsafe X509_NAME_get0_der(X509_get_issuer_name(certificate), &name, &size) == 1 else { return [] }
        let number = unsafe CertificateText.bytes(of: X509_get0_serialNumber(certificate))
        return unsafe Array(UnsafeBufferPointer(start: name, count: size)) + number
    }

    /// Encodes the certificate in DER. libcrypto keeps the signed part as received.
    private static func encode(_ certificate: OpaquePointer) -> [UInt8] {
        var data: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_X509(certificate, &data)
        guard count > 0, let data = unsafe data else { return [] }
        defer { unsafe CRYPTO_free(data, #file, #line) }
        return unsafe Array(UnsafeBufferPointer(start: data, count: Int(count)))
    }
}

/// A converter of a certificate's times to numbers.
enum CertificateTime {
    /// - Returns: seconds since 1970.
    static func seconds(_ time: UnsafePointer<ASN1_TIME>?) throws(OpenSSLError) -> Int64 {
        let epoch = unsafe ASN1_TIME_set(nil, 0)
        defer { unsafe ASN1_TIME_free(epoch) }
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else {
            throw .draining(after: "ASN1_TIME_diff")
        }
        return Int64(days) * 86400 + Int64(seconds)
    }
}

/// A reader of the bytes of a certificate's fields.
enum CertificateText {
    static func bytes(of string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
    }
}

/// A converter of distinguished names to text.
enum CertificateName {
    private static let maximumLength = 512

    /// - Returns: the form of RFC 2253, in which everything except printable ASCII is escaped.
    static func text(of name: OpaquePointer?) -> String {
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { return "" }
        defer { unsafe BIO_free(bio) }
        guard unsafe offer_print_name(bio, name) >= 0 else { return "" }
        var text = [UInt8](repeating: 0, count: maximumLength)
        let count = unsafe BIO_read(bio, &text, Int32(text.count))
        return String(decoding: text.prefix(Int(max(count, 0))), as: UTF8.self)
    }
}
