import COpenSSL

/// A P-256 public key with precomputed multiples of its point. The multiples make verification about twice as fast.
///
/// Verification spends most of its time multiplying the key's point by a number. libcrypto has a table of multiples
/// only for the curve's base point. This type makes the public key the base point of a second group and has libcrypto
/// compute that group's table, which takes 150 kB.
@safe package final class PrecomputedPublicKey: Sendable {
    // These are never changed after init. Since version 3.0, libcrypto's arithmetic only reads a group (see its
    // source), so threads can share one.
    nonisolated(unsafe) let curve: OpaquePointer
    /// The same curve with the public key as its base point.
    nonisolated(unsafe) let curveFromKey: OpaquePointer

    /// Precomputes the multiples. This takes tens of milliseconds.
    /// - Parameter point: the public key, encoded according to SEC 1 section 2.3.3.
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
