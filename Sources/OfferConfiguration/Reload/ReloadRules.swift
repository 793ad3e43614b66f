package import OfferCore
import OfferHTTP

/// The rules for configuration changes while the service runs, as pure functions of the old and the new configuration.
package enum ReloadRules {
    /// Returns the changes that a reload must refuse because they need a restart. A mistake in a file must not open a
    /// running service to strangers, make it sign every offer, or map its users to different customers.
    /// - Parameters:
    ///   - running: the configuration at startup, which determines where the service listens.
    ///   - old: the configuration in force.
    package static func refusals(
        running: Configuration, from old: Configuration, to new: Configuration
    ) -> [Diagnostic] {
        var refusals: [Diagnostic] = []
        func refuse(_ error: String, hint: String) {
            refusals.append(Diagnostic(error, hint: "\(hint), or restart the service to apply it"))
        }
        if !old.callers.isEmpty, new.callers.isEmpty {
            refuse("the new configuration lists no callers, so anyone could request signatures", hint: "add one")
        }
        if old.catalogue != nil, new.catalogue == nil {
            refuse("the new configuration lists no apps, so any offer would be signed", hint: "add them")
        }
        if running.certificate != nil, new.certificate == nil {
            refuse("the new configuration has no certificate, so tokens could be read in transit", hint: "set one")
        }
        if !LoopbackAddress.isLoopback(running.address.host), LoopbackAddress.isLoopback(new.address.host) {
            refuse(
                "the new configuration listens only on this machine, but the service listens on \(running.address.host)",
                hint: "restore the previous \(Settings.host.variable)")
        }
        for (old, new) in commonIssuers(old.callers, new.callers) where old.customer != new.customer {
            refuse(
                "the new configuration identifies users of \(old.name) by another claim, "
                    + "so they would become different customers",
                hint: "name the previous claim")
        }
        let isHashed = commonIssuers(old.callers, new.callers).contains {
            if case (.hashedUsername, .hashedUsername) = ($0.customer, $1.customer) { true } else { false }
        }
        if isHashed, old.callers.usernameSalt != new.callers.usernameSalt {
            refuse(
                "\(Settings.usernameSalt.variable) has changed, so every user would become a different customer",
                hint: "restore the previous value")
        }
        return refusals
    }

    /// Returns a notice for each changed setting that takes effect only after a restart. These changes do not prevent a
    /// reload.
    package static func restartNotices(from running: Configuration, to new: Configuration) -> [Diagnostic] {
        var changed = Settings.all.filter { $0.reload == .onRestart }.map(\.variable).filter { variable in
            guard let old = running.values[variable], let new = new.values[variable] else { return false }
            return !isEqual(old, new)
        }
        // A reload can renew a certificate but cannot turn on TLS.
        if running.certificate == nil, new.certificate != nil { changed.append(Settings.tlsCertificate.variable) }
        // A new app in the configuration file can need a database even if none was used before.
        if running.store?.location != new.store?.location, !changed.contains(Settings.database.variable) {
            changed.append(Settings.database.variable)
        }
        return changed.map {
            Diagnostic("\($0) has changed since startup", hint: "restart the service to apply it")
        }
    }

    private static func isEqual(_ one: any Hashable, _ other: any Hashable) -> Bool {
        AnyHashable(one) == AnyHashable(other)
    }

    private static func commonIssuers(
        _ old: Callers, _ new: Callers
    ) -> [(old: UserIssuer, new: UserIssuer)] {
        old.userIssuers.compactMap { old in
            new.userIssuers.first { $0.issuer == old.issuer }.map { (old, $0) }
        }
    }
}
