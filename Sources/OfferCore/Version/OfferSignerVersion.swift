/// The version of this program, `major.minor.patch`.
///
/// This is the only copy: `offer-signer --version` prints it, and `scripts/package` reads it from the binary.
package enum OfferSignerVersion {
    package static let text = "0.9.0"
}
