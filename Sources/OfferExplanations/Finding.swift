/// One defect and its location.
package struct Finding: Hashable, Sendable {
    package let cause: Cause
    /// The field or claim at fault, as the evidence spells it.
    package let field: String?
    /// The key that the finding is about.
    package let keyID: String?

    package init(_ cause: Cause, field: String? = nil, keyID: String? = nil) {
        self.cause = cause
        self.field = field
        self.keyID = keyID
    }

    /// An explanation of the defect and its remedy.
    package var sentence: String { cause.sentence(field: field, keyID: keyID) }
}
