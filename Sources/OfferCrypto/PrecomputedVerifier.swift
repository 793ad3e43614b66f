import COpenSSL
import OfferCore

/// An ECDSA verifier that uses a ``PrecomputedPublicKey``. Only one thread may use it at a time.
///
/// libcrypto does the arithmetic. This type performs the steps of FIPS 186-5 section 6.4.2, each of which must succeed.
@safe package final class PrecomputedVerifier {
    private let multiples: PrecomputedPublicKey
    /// A `BN_CTX`, which reuses the memory of its numbers across verifications.
    private let numbers: OpaquePointer
    private let sum: OpaquePointer
    private let product: OpaquePointer

    package init(by multiples: PrecomputedPublicKey) throws(OpenSSLError) {
        ERR_clear_error()
        self.multiples = multiples
        let numbers = unsafe BN_CTX_new()
        let sum = unsafe EC_POINT_new(multiples.curve)
        let product = unsafe EC_POINT_new(multiples.curve)
        guard let numbers = unsafe numbers, let sum = unsafe sum, let product = unsafe product else {
            unsafe EC_POINT_free(product)
            unsafe EC_POINT_free(sum)
            unsafe BN_CTX_free(numbers)
            throw .draining(after: "BN_CTX_new or EC_POINT_new")
        }
        unsafe self.numbers = unsafe numbers
        unsafe self.sum = unsafe sum
        unsafe self.product = unsafe product
    }

    deinit {
        unsafe EC_POINT_free(product)
        unsafe EC_POINT_free(sum)
        unsafe BN_CTX_free(numbers)
    }

    /// - Parameters:
    ///   - signature: a signature in ASN.1 DER.
    ///   - hash: SHA-256 of the message.
    /// - Returns: true if the signature verifies; false if it does not, or if a step failed. A failed step leaves its
    ///   reason on libcrypto's error queue.
    package func accepts(_ signature: [UInt8], ofHash hash: InlineArray<32, UInt8>) -> Bool {
        guard let signature = RawSignature(der: signature) else { return false }
        unsafe BN_CTX_start(numbers)
        defer { unsafe BN_CTX_end(numbers) }
        let (curve, curveFromKey) = unsafe (multiples.curve, multiples.curveFromKey)
        let order = unsafe EC_GROUP_get0_order(curve)
        // After one failure, BN_CTX_get keeps failing, so it is enough to check the last call.
        let (r, s, e) = unsafe (BN_CTX_get(numbers), BN_CTX_get(numbers), BN_CTX_get(numbers))
        let (inverse, u1, u2) = unsafe (BN_CTX_get(numbers), BN_CTX_get(numbers), BN_CTX_get(numbers))
        guard let x = unsafe BN_CTX_get(numbers) else { return false }
        let isRead = unsafe signature.bytes.withUnsafeBufferPointer { bytes in
            unsafe hash.span.withUnsafeBufferPointer { hash in
                unsafe BN_bin2bn(bytes.baseAddress, 32, r) != nil
                    && BN_bin2bn(bytes.baseAddress.map { unsafe $0 + 32 }, 32, s) != nil
                    && BN_bin2bn(hash.baseAddress, 32, e) != nil
            }
        }
        // RawSignature has already excluded zero.
        guard isRead, unsafe BN_cmp(r, order) < 0, unsafe BN_cmp(s, order) < 0,
            unsafe BN_mod_inverse(inverse, s, order, numbers) != nil,
            unsafe BN_mod_mul(u1, e, inverse, order, numbers) == 1,
            unsafe BN_mod_mul(u2, r, inverse, order, numbers) == 1,
            // The base point times u1 plus the public key times u2.
            unsafe EC_POINT_mul(curve, sum, u1, nil, nil, numbers) == 1,
            unsafe EC_POINT_mul(curveFromKey, product, u2, nil, nil, numbers) == 1,
            unsafe EC_POINT_add(curve, sum, sum, product, numbers) == 1,
            // This fails for the point at infinity, which has no coordinates.
            unsafe EC_POINT_get_affine_coordinates(curve, sum, x, nil, numbers) == 1,
            unsafe BN_nnmod(x, x, order, numbers) == 1
        else { return false }
        return unsafe BN_cmp(x, r) == 0
    }
}
