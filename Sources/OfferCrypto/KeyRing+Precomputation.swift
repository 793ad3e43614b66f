package import OfferCore

// Precomputation needs libcrypto, which OfferCore does not import.
extension KeyRing {
    /// The maximum number of precomputed keys. Each key takes tens of milliseconds of CPU time and 150 kB of memory.
    private static let maximumPrecomputedKeys = 32

    /// The IDs of the active keys to precompute, starting with the key for all apps.
    package var keysToPrecompute: [KeyID] {
        let first = choice.ofAllApps
        return Array(((first.map { [$0] } ?? []) + active.filter { $0 != first }).prefix(Self.maximumPrecomputedKeys))
    }

    /// Precomputes the public half of a key. The key then verifies its own signatures in about half the time.
    /// - Returns: false if the key is missing or already precomputed, or if precomputation cannot help.
    package func precompute(_ id: KeyID) throws -> Bool {
        try (key(id)?.pair as? any PrecomputableKeyPair)?.precompute() ?? false
    }

    /// Releases the precomputed tables of all keys except these.
    package func releasePrecomputation(except ids: [KeyID]) {
        for id in keyIDs where !ids.contains(id) {
            (key(id)?.pair as? any PrecomputableKeyPair)?.releasePrecomputation()
        }
    }
}
