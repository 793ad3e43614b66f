/// The version of this program, `major.minor.patch`.
///
/// It stands nowhere else: `offer-signer --version` prints it, and `scripts/package` asks the binary for it.
package enum OfferSignerVersion {
    package static let text = "0.9.0"
}
