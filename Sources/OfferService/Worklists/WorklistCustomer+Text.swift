package import OfferCore
package import OfferEligibility

extension WorklistCustomer {
    /// The identifiers that can name the customers of a list. A list uses one of them for all of its customers, and
    /// `links make` accepts each of them.
    package static let names: [CustomerIdentifier.Kind] = [
        .appAccountToken, .applicationUsername, .originalTransactionID, .appTransactionID,
    ]

    /// - Returns: nil if the customer has no such name.
    package func name(_ kind: CustomerIdentifier.Kind) -> CustomerIdentifier? {
        switch kind {
        case .appAccountToken: appAccountToken.map(CustomerIdentifier.appAccountToken)
        case .applicationUsername: applicationUsername.map(CustomerIdentifier.applicationUsername)
        case .appTransactionID: appTransactionID.map(CustomerIdentifier.appTransactionID)
        case .originalTransactionID: .originalTransactionID(originalTransactionID)
        case .transactionID: nil
        }
    }

    /// Writes the members of the customer in an answer. Unknown ones are left out.
    package func write(to writer: inout JSONWriter) {
        for kind in Self.names { if let name = name(kind) { writer.member(name) } }
        writer.member("productID", utf8: productID.text.utf8)
        writer.member("status", status.rawValue)
        if let endsAt { writer.member("endsAt", endsAt.milliseconds) }
        if let storefront { writer.member("storefront", storefront) }
        if isHeldOut { writer.member("heldOut", true) }
    }

    /// The customer as a JSON object on one line.
    package var json: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.finish()
    }

    /// - Parameter kind: the name in the first column.
    package static func csvHead(naming kind: CustomerIdentifier.Kind) -> [CSV.Cell] {
        [kind.rawValue, "productID", "status", "endsAt", "storefront", "heldOut"].map(CSV.Cell.verbatim)
    }

    /// The cells under ``csvHead(naming:)``. Names are written as they are, for programs.
    /// - Returns: nil if the customer has no such name.
    package func csv(naming kind: CustomerIdentifier.Kind) -> [CSV.Cell]? {
        name(kind).map { name in
            [
                .verbatim(String(decoding: name.utf8, as: UTF8.self)), .verbatim(productID.text.description),
                .verbatim(status.rawValue),
                endsAt.map { .verbatim(String(decoding: $0.iso8601, as: UTF8.self)) } ?? .empty,
                storefront.map(CSV.Cell.verbatim) ?? .empty, .verbatim(isHeldOut ? "true" : "false"),
            ]
        }
    }
}
