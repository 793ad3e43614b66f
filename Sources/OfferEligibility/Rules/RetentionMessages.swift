package import OfferCore

/// The uploaded messages of one case. The environment and then the locale determine the shown message.
package struct RetentionMessages: Hashable, Sendable {
    /// The identifiers of one text in several languages.
    package struct Localized: Hashable, Sendable {
        package let byLocale: [RetentionLocale: UUIDText]
        /// The message for every other locale; nil if there is none.
        package let otherwise: UUIDText?

        package init(byLocale: [RetentionLocale: UUIDText] = [:], otherwise: UUIDText?) {
            self.byLocale = byLocale
            self.otherwise = otherwise
        }

        /// Returns the message for a locale: the exact one, else the closest related locale's, else the default.
        fileprivate func identifier(for locale: RetentionLocale) -> UUIDText? {
            byLocale[locale] ?? locale.fromExactToLanguage.lazy.compactMap { byLocale[$0] }.first ?? otherwise
        }
    }

    /// Messages are uploaded to each environment, so each can have its own.
    package let byEnvironment: [AppStoreEnvironment: Localized]
    /// The messages for every other environment; nil if there are none.
    package let otherwise: Localized?

    package init(byEnvironment: [AppStoreEnvironment: Localized] = [:], otherwise: Localized? = nil) {
        self.byEnvironment = byEnvironment
        self.otherwise = otherwise
    }

    /// - Returns: nil if there is no message, so the case cannot be shown.
    package func identifier(for locale: RetentionLocale, in environment: AppStoreEnvironment) -> UUIDText? {
        messages(in: environment)?.identifier(for: locale)
    }

    package func messages(in environment: AppStoreEnvironment) -> Localized? {
        byEnvironment[environment] ?? otherwise
    }

    /// Returns true if every customer in an environment has a message.
    package func coversEveryLocale(in environment: AppStoreEnvironment) -> Bool {
        messages(in: environment)?.otherwise != nil
    }
}
