package import OfferCore
package import OfferEligibility

/// A request's reference to a customer: the app, exactly one identifier, and an optional environment.
package struct CustomerReference: Sendable {
    package let bundleID: BundleID
    package let identifier: CustomerIdentifier
    /// nil if the request names no environment.
    package let environment: AppStoreEnvironment?

    package init(bundleID: BundleID, identifier: CustomerIdentifier, environment: AppStoreEnvironment?) {
        self.bundleID = bundleID
        self.identifier = identifier
        self.environment = environment
    }

    /// - Parameter others: the names of other permitted members.
    init(_ members: JSONObject, others: Set<String> = []) throws(Problem) {
        do throws(MemberError) {
            let reader = MemberReader(members)
            try reader.refuseOthers(than: others.union(CustomerIdentifier.Kind.names + ["bundleID", "environment"]))
            bundleID = try reader.field("bundleID", BundleID.init)
            environment = try reader.environment()
        } catch {
            throw Problem(error)
        }
        identifier = try Self.identifier(in: members)
    }

    private static func identifier(in members: JSONObject) throws(Problem) -> CustomerIdentifier {
        let kinds = CustomerIdentifier.Kind.allCases.filter { members[$0.rawValue] != nil }
        guard let kind = kinds.first else { throw .missingOne(of: CustomerIdentifier.Kind.names) }
        guard kinds.count == 1 else { throw .conflictingFields(kind.rawValue, kinds[1].rawValue) }
        do { return try MemberReader(members).identifier(kind) } catch { throw Problem(error) }
    }
}

extension MemberReader {
    func identifier(_ kind: CustomerIdentifier.Kind) throws(MemberError) -> CustomerIdentifier {
        try field(kind.rawValue) { utf8, name throws(FieldError) in
            try CustomerIdentifier(kind, utf8: utf8, field: name)
        }
    }

    /// Reads the optional member `placement`.
    func placement() throws(MemberError) -> FieldText? {
        try optionalField("placement") { utf8, name throws(FieldError) in
            try FieldText(utf8: utf8, field: name, sizes: PlacementTest.sizes)
        }
    }

    /// Reads the optional member `link`. Any text may come from a mail program, so one that cannot be a link is only unknown.
    func link() throws(MemberError) -> FieldText? {
        try optionalField("link") { utf8, name throws(FieldError) in
            if let text = try? FieldText(utf8: utf8, field: name, sizes: LinkText.sizes) { return text }
            return try FieldText(utf8: Array("?".utf8), field: name, sizes: LinkText.sizes)
        }
    }

    /// Reads the optional member `environment`.
    func environment() throws(MemberError) -> AppStoreEnvironment? {
        try optionalField("environment") { utf8, name throws(FieldError) in
            let known = AppStoreEnvironment.known
            guard let environment = known.first(where: { $0.rawValue.utf8.elementsEqual(utf8) }) else {
                throw FieldError(field: name, reason: .notOneOf(known.map(\.rawValue)))
            }
            return environment
        }
    }
}
