/// The routes of the server.
public struct OfferAPI: Hashable, Sendable {
    let isSample: Bool

    /// Every route of offer-signer.
    public static let v1 = OfferAPI(isSample: false)
    /// Only `POST /offer`, as of Apple's sample. Nothing can be listed, reported or explained there.
    public static let sample = OfferAPI(isSample: true)
}
