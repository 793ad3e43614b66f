package import OfferCore

/// A caller's statement that an identifier belongs to an account of the app. Only a caller can undo it.
package struct CustomerLink: Hashable, Sendable {
    /// Usually an identifier of anonymous purchases. A username can also be linked to an `appAccountToken`.
    package let identifier: CustomerIdentifier
    package let account: Customer

    package init(identifier: CustomerIdentifier, account: Customer) {
        self.identifier = identifier
        self.account = account
    }
}
