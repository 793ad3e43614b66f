package import OfferCore

/// App versions from `from` up to, but not including, `before`.
package struct VersionRange: Hashable, Sendable {
    package let from: AppVersion?
    package let before: AppVersion?

    package init(from: AppVersion? = nil, before: AppVersion? = nil) {
        self.from = from
        self.before = before
    }

    package func contains(_ version: AppVersion) -> Bool {
        from.map { version >= $0 } ?? true && before.map { version < $0 } ?? true
    }
}

/// Times from `from` up to, but not including, `until`.
package struct DateRange: Hashable, Sendable {
    package let from: Timestamp?
    package let until: Timestamp?

    package init(from: Timestamp? = nil, until: Timestamp? = nil) {
        self.from = from
        self.until = until
    }

    package func contains(_ time: Timestamp) -> Bool {
        from.map { time >= $0 } ?? true && until.map { time < $0 } ?? true
    }

    package var isEmpty: Bool {
        guard let from, let until else { return false }
        return from >= until
    }
}
