import OfferCore

extension CatalogueCheck {
    private static let path = "/v1/app-store-notifications"

    /// Checks where the App Store sends notifications. Another server may pass them on, so this is only a warning.
    func notificationFindings() -> [CatalogueFinding] {
        guard receivesNotifications else { return [] }
        let environments = [AppStoreEnvironment.production, .sandbox].filter(app.environments.contains)
        return environments.flatMap { environment -> [CatalogueFinding] in
            guard let target = listing.notifications[environment] else { return [] }
            return [urlFinding(target, environment), versionFinding(target, environment)].compactMap(\.self)
        }
    }

    private func urlFinding(
        _ target: AppListing.NotificationTarget, _ environment: AppStoreEnvironment
    ) -> CatalogueFinding? {
        guard target.url?.hasSuffix(Self.path) != true else { return nil }
        return CatalogueFinding(
            .otherNotificationURL, severity: .warning, app: bundleID,
            target.url.map {
                "the App Store sends notifications of \(environment.rawValue) to \($0.printable), not to this service"
            } ?? "the App Store has no URL for notifications of \(environment.rawValue)",
            hint: "set the URL that ends with \(Self.path) under App Information, unless another server passes them on")
    }

    private func versionFinding(
        _ target: AppListing.NotificationTarget, _ environment: AppStoreEnvironment
    ) -> CatalogueFinding? {
        guard target.url?.hasSuffix(Self.path) == true, let version = target.version?.uppercased(), version != "V2",
            version != "V1" || app.notifications.sharedSecret == nil
        else { return nil }
        return CatalogueFinding(
            .otherNotificationVersion, app: bundleID,
            "the App Store sends notifications of \(environment.rawValue) in version \(version.printable), which is refused",
            hint: "choose version 2 under App Information")
    }
}
