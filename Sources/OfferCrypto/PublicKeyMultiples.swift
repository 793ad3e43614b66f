import COpenSSL

/// A P-256 public key with multiples of its point at hand, by which a signature is known to be good in about half the time.
///
/// Most of a verification is multiplying the key's point by a number that is another one each time. For the curve's own
/// base point libcrypto has multiples in store, and for any other point it can make them: that of a group whose base point
/// that is. They are 150 kB.
@safe package final class PublicKeyMultiples: Sendable {
    // Never changed after init. A group has no lock, and libcrypto keeps nothing in it while it reckons with it (as its
    // sources from 3.0 on say), so threads can share it.
    nonisolated(unsafe) let curve: OpaquePointer
    /// The same curve, with the public key for its base point.
    nonisolated(unsafe) let curveFromKey: OpaquePointer

    /// Takes tens of milliseconds.
    /// - Parameter point: the public key, encoded as SEC 1 section 2.3.3 has it.
    package init(of point: [UInt8]) throws(OpenSSLError) {
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
        guard let key = unsafe EC_POINT_new(curve) else { throw .draining(after: "EC_POINT_new") }
        defer { unsafe EC_POINT_free(key) }
        guard unsafe EC_POINT_oct2point(curve, key, point, point.count, nil) == 1 else {
            throw .draining(after: "EC_POINT_oct2point")
        }
        let (order, cofactor) = unsafe (EC_GROUP_get0_order(curve), EC_GROUP_get0_cofactor(curve))
        guard unsafe EC_GROUP_set_generator(curveFromKey, key, order, cofactor) == 1,
            unsafe offer_precompute_multiples(curveFromKey) == 1
        else { throw .draining(after: "EC_GROUP_set_generator or EC_GROUP_precompute_mult") }
    }

    deinit {
        unsafe EC_GROUP_free(curveFromKey)
        unsafe EC_GROUP_free(curve)
    }
}
