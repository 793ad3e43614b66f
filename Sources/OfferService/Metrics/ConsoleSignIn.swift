/// The way in which a person signs in to the console.
package enum SignInWay: String, CaseIterable, Sendable {
    case link, provider
}

package enum SignInOutcome: String, CaseIterable, Sendable {
    case accepted
    /// The link is invalid, the provider refused, its answer is invalid, or the person has no role.
    case refused
    /// The provider, the database or the audit trail did not answer.
    case failed
}
