package import OfferCore
package import OfferEligibility

/// The apps for which this service accepts App Store data.
package struct ExpectedApps: Hashable, Sendable {
    private let byBundleID: [BundleID: ExpectedApp]
    private let byAppAppleID: [Int64: ExpectedApp]
    /// The only app without a known Apple ID; nil if there are none or several.
    private let appWithoutAppAppleID: ExpectedApp?
    /// The app and environment that the App Store was asked about; nil for data that came without a question.
    private(set) var asked: AppScope?

    package init(_ apps: [ExpectedApp]) throws(ExpectedAppError) {
        var byBundleID: [BundleID: ExpectedApp] = [:]
        var byAppAppleID: [Int64: ExpectedApp] = [:]
        for app in apps {
            guard byBundleID.updateValue(app, forKey: app.bundleID) == nil else {
                throw .duplicateBundleID(app.bundleID)
            }
            guard let id = app.appAppleID else { continue }
            guard byAppAppleID.updateValue(app, forKey: id) == nil else { throw .duplicateAppAppleID(id) }
        }
        let others = apps.filter { $0.appAppleID == nil }
        appWithoutAppAppleID = others.count == 1 ? others.first : nil
        self.byBundleID = byBundleID
        self.byAppAppleID = byAppAppleID
    }

    /// Returns the same apps, for data that answers a question about one of them. Data that names no app is about that one.
    package func asked(about app: AppScope) -> ExpectedApps {
        var apps = self
        apps.asked = app
        return apps
    }

    package subscript(bundleID: BundleID) -> ExpectedApp? { byBundleID[bundleID] }

    /// Finds the app that a payload names and checks the payload against it.
    /// - Parameter origin: the origin of any payload except renewal info, which names no app; see
    ///   ``SubscriptionRecord``.
    package func check(_ origin: PayloadOrigin) throws(CheckFailure) -> ExpectedApp {
        let app = try origin.kind.carriesBundleID ? app(bundleID: origin.bundleID) : app(of: origin)
        try app.expectedOrigin.check(origin)
        return app
    }

    /// Completes the origin of a notification whose content names no bundle ID, if it can only be about one app.
    ///
    /// That is the app with the named Apple ID or, without an Apple ID, the app in question or the only app. Without an
    /// environment, it is the one in question, or production if the app has it. Nothing but the notification itself may be stored under such an origin.
    func completing(_ origin: PayloadOrigin) -> PayloadOrigin {
        let only = asked.map { byBundleID[$0.bundleID] } ?? (byBundleID.count == 1 ? byBundleID.values.first : nil)
        let named = origin.appAppleID.map { byAppAppleID[$0] } ?? only
        guard origin.bundleID == nil, let app = named else { return origin }
        let assumed = app.environments.contains(.production) ? .production : app.environments.first
        return PayloadOrigin(
            origin.kind, bundleID: app.bundleID, appAppleID: origin.appAppleID ?? app.appAppleID,
            environment: origin.environment ?? asked?.environment ?? assumed)
    }

    private func app(bundleID: BundleID?) throws(CheckFailure) -> ExpectedApp {
        guard let bundleID else { throw .bundleIDMissing }
        guard let app = byBundleID[bundleID] else { throw .anotherBundleID }
        return app
    }

    /// Finds the app by its Apple ID, which is the only identifier of the app in a retention message request.
    ///
    /// An app without a known Apple ID is served only in the sandbox. If there is exactly one such app, a request with
    /// an unknown Apple ID is for that app.
    private func app(of origin: PayloadOrigin) throws(CheckFailure) -> ExpectedApp {
        guard let id = origin.appAppleID else { throw .appAppleIDMissing }
        if let app = byAppAppleID[id] { return app }
        guard origin.environment != .production, let app = appWithoutAppAppleID else { throw .anotherAppAppleID }
        return app
    }
}
