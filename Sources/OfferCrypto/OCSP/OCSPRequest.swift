import COpenSSL

/// A request to an OCSP responder (RFC 6960 section 4.1) about one certificate.
///
/// There is no nonce: responders send prepared answers (RFC 5019 section 4), and the times in an answer limit replays.
package enum OCSPRequest {
    /// The media type of a request (RFC 6960 appendix A.1).
    package static let mediaType = "application/ocsp-request"

    /// Returns the request in DER. It identifies the certificate with SHA-256, as Apple's libraries for Node and Python
    /// do.
    /// - Parameter issuer: the certificate that signed `certificate`.
    package static func der(
        about certificate: X509Certificate, issuedBy issuer: X509Certificate
    ) throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        guard let request = unsafe OCSP_REQUEST_new() else { throw .draining(after: "OCSP_REQUEST_new") }
        defer { unsafe OCSP_REQUEST_free(request) }
        guard let id = unsafe OCSP_cert_to_id(EVP_sha256(), certificate.pointer, issuer.pointer) else {
            throw .draining(after: "OCSP_cert_to_id")
        }
        guard unsafe OCSP_request_add0_id(request, id) != nil else {
            unsafe OCSP_CERTID_free(id)
            throw .draining(after: "OCSP_request_add0_id")
        }
        return try unsafe OCSPEncoding.bytes(after: "i2d_OCSP_REQUEST") { unsafe i2d_OCSP_REQUEST(request, &$0) }
    }
}

/// An encoder of libcrypto's objects in DER.
enum OCSPEncoding {
    /// - Parameter encode: one of libcrypto's `i2d` functions, which allocates the bytes.
    static func bytes(
        after call: String, _ encode: (inout UnsafeMutablePointer<UInt8>?) -> Int32
    ) throws(OpenSSLError) -> [UInt8] {
        var data: UnsafeMutablePointer<UInt8>?
        let count = unsafe encode(&data)
        guard count > 0, let data = unsafe data else { throw .draining(after: call) }
        defer { unsafe CRYPTO_free(data, #file, #line) }
        return unsafe Array(UnsafeBufferPointer(start: data, count: Int(count)))
    }
}
