/// The rule that maps the values of a person's claim to roles of the console.
package struct RoleMapping: Hashable, Sendable {
    /// The role names by value. Values are compared byte for byte: `String` treats some different texts as equal.
    private var roles: [[UInt8]: Set<String>] = [:]

    /// - Parameter values: for each role, the values that give it.
    package init(_ values: [String: [String]]) {
        for (role, values) in values {
            for value in values { roles[Array(value.utf8), default: []].insert(role) }
        }
    }

    /// Returns the roles of a person with these values: none if no value is mapped.
    package func roles(of values: [String]) -> Set<String> {
        values.reduce(into: []) { $0.formUnion(roles[Array($1.utf8)] ?? []) }
    }
}
