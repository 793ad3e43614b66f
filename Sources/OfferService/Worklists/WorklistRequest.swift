import OfferCore
import OfferEligibility

/// The body of `POST /v1/customers/list`.
struct WorklistRequest {
    enum HeldOut: String, CaseIterable { case exclude, include }

    let bundleID: BundleID
    /// nil for production, if the app has it.
    let environment: AppStoreEnvironment?
    let list: List
    /// The number with which the page begins; nil for the first page.
    let start: Int64?
    /// nil for everybody, whenever they became eligible.
    let since: Timestamp?

    enum List {
        /// - `productID`: nil if only one product has the offer.
        case offer(OfferID, ProductID?, HeldOut)
        case state(Worklist.State)
    }

    init(_ members: JSONObject) throws(Problem) {
        do throws(MemberError) {
            let reader = MemberReader(members)
            try reader.refuseOthers(than: [
                "bundleID", "environment", "offerID", "productID", "heldOut", "since", "state", "after",
            ])
            bundleID = try reader.field("bundleID", BundleID.init)
            environment = try reader.environment()
            start = try reader.optionalField("after") { utf8, name throws(FieldError) in
                let text = String(decoding: utf8, as: UTF8.self)
                guard text.utf8.count <= 18,
                    text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                    let number = Int64(text)
                else {
                    throw FieldError(field: name, reason: .notOneOf(["the text of next in the answer before"]))
                }
                return number
            }
            since = try reader.optionalField("since") { utf8, name throws(FieldError) in
                guard let time = Timestamp(dateOrTime: String(decoding: utf8, as: UTF8.self)) else {
                    throw FieldError(
                        field: name, reason: .notOneOf(["a date, or a time in UTC such as 2026-11-20T10:00:00Z"]))
                }
                return time
            }
            let state: Worklist.State? = try Self.choice("state", reader)
            let heldOut: HeldOut? = try Self.choice("heldOut", reader)
            let productID = try reader.optionalField("productID", ProductID.init)
            if let state {
                for name in ["offerID", "productID", "heldOut", "since"] where members[name] != nil {
                    throw .conflicting("state", name)
                }
                list = .state(state)
            } else {
                guard since == nil || heldOut != .include else { throw .conflicting("since", "heldOut") }
                list = .offer(try reader.field("offerID", OfferID.init), productID, heldOut ?? .exclude)
            }
        } catch { throw Problem(error) }
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ reader: MemberReader
    ) throws(MemberError) -> Choice? {
        try reader.optionalField(name) { utf8, name throws(FieldError) -> Choice in
            guard let choice = Choice(rawValue: String(decoding: utf8, as: UTF8.self)) else {
                throw FieldError(field: name, reason: .notOneOf(Choice.allCases.map(\.rawValue)))
            }
            return choice
        }
    }

    /// Returns the list, with the terms of its offer.
    func worklist(of app: Catalogue.App) throws(Problem) -> Worklist {
        switch list {
        case .state(let state): return .state(state)
        case .offer(let offerID, let productID, let heldOut):
            let found = app.rules.offers.filter { terms in
                terms.offerID == offerID && (productID == nil || terms.productID == productID)
            }
            guard let terms = found.first else { throw .unlistedOffer }
            guard found.count == 1 else { throw .severalProducts }
            return .offer(terms, includesHeldOut: heldOut == .include)
        }
    }
}
