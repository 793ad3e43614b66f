// Apps print values into logs. These would put an identifier or a usable signature there.

extension OfferCustomer: CustomStringConvertible, CustomReflectable {
    public var description: String { "<customer>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension OfferSignature: CustomStringConvertible, CustomReflectable {
    public var description: String { "<signature of key \(keyID)>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension SignedOffer: CustomStringConvertible, CustomReflectable {
    public var description: String { "<signed \(offer.offerID) of \(offer.productID)>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension DeviceProofs: CustomStringConvertible, CustomReflectable {
    public var description: String { "<\(signedTransactions.count) transactions>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
