package import OfferCore
package import OfferEligibility
package import SubscriberStore

/// The body of `PUT /v1/customers/facts`: the team's facts about one customer, or about each customer of a list.
package struct CustomerFactsRequest {
    /// The customers with their statements, in the order of the request. All have the same app and environment.
    package let customers: [(customer: CustomerReference, statement: TeamFactStatement)]

    /// The permitted number of facts of a customer.
    package static let counts = 1...100
    /// The permitted number of customers in a list.
    package static let customerCounts = 1...200
    /// The maximum size of a text, in bytes.
    package static let maximumTextSize = 1024
    /// The maximum size of a number, in bytes. A number that many parsers cannot read would make the whole answer
    /// unreadable.
    package static let maximumNumberSize = 64
    /// The maximum number of members to read. It exceeds the permitted numbers of facts and of customers, so that a
    /// request with too many gets the error about them.
    package static let maximumCount = 256

    package init(_ request: JSONObject) throws(Problem) {
        guard let list = request["customers"] else {
            let customer = try CustomerReference(request, others: ["facts"])
            customers = [(customer, try Self.statement(request["facts"], about: customer, "facts"))]
            return
        }
        for name in CustomerIdentifier.Kind.names + ["facts"] where request[name] != nil {
            throw .conflictingFields("customers", name)
        }
        do { try MemberReader(request).refuseOthers(than: ["bundleID", "environment", "customers"]) } catch {
            throw Problem(error)
        }
        guard case .array(let items) = list else {
            throw .wrongType(field: "customers", expected: "an array", found: list.kind)
        }
        guard Self.customerCounts.contains(items.count) else {
            throw .invalidField(FieldError(field: "customers", reason: .wrongCount(Self.customerCounts)))
        }
        var customers: [(customer: CustomerReference, statement: TeamFactStatement)] = []
        for (index, item) in items.enumerated() {
            let place = "customers[\(index)]"
            guard case .object(var members) = item else {
                throw .wrongType(field: place, expected: "an object", found: item.kind)
            }
            do { try MemberReader(members).refuseOthers(than: Set(CustomerIdentifier.Kind.names + ["facts"])) } catch {
                throw Problem(error).with { $0.field = $0.field.map { "\(place).\($0)" } ?? place }
            }
            for name in ["bundleID", "environment"] {
                if let value = request[name] { _ = members.add(Array(name.utf8), value) }
            }
            let customer = try CustomerReference(members, others: ["facts"])
            customers.append((customer, try Self.statement(members["facts"], about: customer, "\(place).facts")))
        }
        self.customers = customers
    }

    /// Reads the facts of a customer.
    /// - Parameter field: the member's name in errors.
    private static func statement(
        _ value: JSONValue?, about customer: CustomerReference, _ field: String
    ) throws(Problem) -> TeamFactStatement {
        guard let value else { throw .missingField(field) }
        guard case .object(let object) = value else {
            throw .wrongType(field: field, expected: "an object", found: value.kind)
        }
        guard Self.counts.contains(object.members.count) else {
            throw .invalidField(FieldError(field: field, reason: .wrongCount(Self.counts)))
        }
        var facts: [FieldText: TeamFactValue?] = [:]
        for member in object.members {
            let name = try Self.name(member.name, in: field)
            facts.updateValue(try Self.value(member.value, of: "\(field).\(name)"), forKey: name)
        }
        return TeamFactStatement(customer.identifier, facts)
    }

    private static func name(_ utf8: [UInt8], in field: String) throws(Problem) -> FieldText {
        do {
            return try FieldText(utf8: utf8, field: "The name of a fact", sizes: 1...TeamFact.maximumNameSize)
        } catch {
            throw .invalidField(error).with { $0.field = field }
        }
    }

    private static func value(_ value: JSONValue, of field: String) throws(Problem) -> TeamFactValue? {
        switch value {
        case .null: return nil
        case .bool(let bool): return .bool(bool)
        case .number(let utf8):
            guard utf8.count <= maximumNumberSize, Double(String(decoding: utf8, as: UTF8.self))?.isFinite == true
            else {
                throw .wrongType(
                    field: field,
                    expected: "a number of up to \(maximumNumberSize) characters in the range of a double",
                    found: "another number")
            }
            return .number(utf8)
        case .string(let utf8): return .text(try checked(utf8, field))
        case .array, .object:
            throw .wrongType(field: field, expected: "a string, a number, true, false or null", found: value.kind)
        }
    }

    /// Returns the value that a cell of a table means: a boolean, a number, or else a text.
    /// - Returns: nil for an empty cell, which removes the fact.
    package static func value(ofCell cell: String) throws(FieldError) -> TeamFactValue? {
        switch cell {
        case "": return nil
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: break
        }
        let utf8 = Array(cell.utf8)
        if utf8.count <= maximumNumberSize, case .number(let number)? = try? JSONReader.read(utf8),
            Double(cell)?.isFinite == true
        {
            return .number(number)
        }
        guard utf8.count <= maximumTextSize else {
            throw FieldError(field: "the value", reason: .tooLong(maximumBytes: maximumTextSize))
        }
        guard !utf8.contains(0) else { throw FieldError(field: "the value", reason: .controlCharacter) }
        return .text(utf8)
    }

    /// Returns a text that is short enough and contains no NUL, because a database may end a text there.
    private static func checked(_ utf8: [UInt8], _ field: String) throws(Problem) -> [UInt8] {
        guard utf8.count <= maximumTextSize else {
            throw .invalidField(FieldError(field: field, reason: .tooLong(maximumBytes: maximumTextSize)))
        }
        guard !utf8.contains(0) else { throw .invalidField(FieldError(field: field, reason: .controlCharacter)) }
        return utf8
    }
}
