import OfferCore
import OfferEligibility

extension AppliedOffer {
    /// - Returns: nil if there is no type, because Apple sends a type with every offer.
    init?(
        type: PayloadValue?, identifier: PayloadValue?, discountType: PayloadValue?, period: PayloadValue?
    ) throws(PayloadError) {
        let identifier = try identifier?.unlessEmpty?.text()
        let discountType = try discountType?.open(OfferDiscountType.self)
        let period = try period?.unlessEmpty?.text()
        guard let type = try type?.open(OfferType.self) else { return nil }
        self.init(type: type, identifier: identifier, discountType: discountType, period: period)
    }
}
