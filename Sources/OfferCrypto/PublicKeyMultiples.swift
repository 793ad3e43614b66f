import COpenSSL

/// A P-256 public key with multiples of its point at hand, by which a signature is known to be good in about half the time.
///
/// Most of a verification is multiplying the key's point by a number that is another one each time. For the curve's own
/// base point libcrypto has multiples in store, and for any other point it can make them: that of a group whose base point
/// that is. They are 150 kB.
@safe package final class PublicKeyMultiples: Sendable {
    // Never changed after init. What has no lock in it, and is handed to libcrypto as const only, threads can share:
    // openssl-threads(7).
    nonisolated(unsafe) let curve: OpaquePointer
    /// The same curve, with the public key for its base point.
    nonisolated(unsafe) let curveFromKey: OpaquePointer

    /// Takes tens of milliseconds.
    package convenience init(of key: VerifyingKey) throws(OpenSSLError) {
        try unsafe self.init(pkey: key.contexts.pkey)
    }

    /// - Parameter pkey: a P-256 key.
    init(pkey: OpaquePointer) throws(OpenSSLError) {
        ERR_clear_error()
        guard let curve = unsafe EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else {
            throw .draining(after: "EC_GROUP_new_by_curve_name")
        }
        guard let curveFromKey = unsafe EC_GROUP_dup(curve) else {
            unsafe EC_GROUP_free(curve)
            throw .draining(after: "EC_GROUP_dup")
        }
        unsafe self.curve = unsafe curve
        unsafe self.curveFromKey = unsafe curveFromKey
        guard let point = unsafe EC_POINT_new(curve) else { throw .draining(after: "EC_POINT_new") }
        defer { unsafe EC_POINT_free(point) }
        var encoded = [UInt8](repeating: 0, count: 65)
        var count = 0
        guard
            unsafe EVP_PKEY_get_octet_string_param(pkey, OSSL_PKEY_PARAM_PUB_KEY, &encoded, encoded.count, &count) == 1,
            unsafe EC_POINT_oct2point(curve, point, encoded, count, nil) == 1
        else { throw .draining(after: "EC_POINT_oct2point") }
        guard
            unsafe EC_GROUP_set_generator(
                curveFromKey, point, EC_GROUP_get0_order(curve), EC_GROUP_get0_cofactor(curve)) == 1,
            unsafe offer_precompute_multiples(curveFromKey, nil) == 1
        else { throw .draining(after: "EC_GROUP_precompute_mult") }
    }

    deinit {
        unsafe EC_GROUP_free(curveFromKey)
        unsafe EC_GROUP_free(curve)
    }
}
