package import AppStoreData
package import OfferCore
package import SubscriberStore

/// Derives the facts of all kept notifications again, for example after a bug in reading them was fixed.
///
/// A fact that the same signed text gave before is replaced. Facts whose notifications are no longer kept, and those of proofs,
/// stay as they are.
package struct NotificationReplay: Sendable {
    package struct Result: Hashable, Sendable {
        package fileprivate(set) var read = 0
        package fileprivate(set) var skipped = 0
    }

    private let store: any SubscriberStore
    private let reader: NotificationReader
    private let catalogue: Catalogue

    private static let pageSize = 100

    package init(_ store: any SubscriberStore, _ settings: AppStoreSettings, _ catalogue: Catalogue) {
        self.store = store
        self.catalogue = catalogue
        reader = NotificationReader(
            AppStoreVerifier(roots: settings.ownRoots ?? .apple, isDevelopment: settings.isDevelopment))
    }

    /// - Parameters:
    ///   - progress: called now and then with the counts so far.
    ///   - skip: called with each notification that cannot be read, and why.
    package func run(
        progress: (Result) -> Void, skip: (NotificationRecord, DataRefusal) -> Void
    ) async throws(StoreError) -> Result {
        let apps: ExpectedApps
        do { apps = try catalogue.expectedApps } catch {
            throw StoreError(.fault, "the apps of the configuration contradict each other")
        }
        var result = Result()
        var last: StoredPayload.ID?
        while true {
            let page = try await store.payloads(after: last, limit: Self.pageSize)
            guard let end = page.last else { return result }
            for payload in page {
                switch facts(of: payload, for: apps) {
                case .success(let facts):
                    try await store.rederive(facts, from: payload.id)
                    result.read += 1
                case .failure(let refusal):
                    skip(payload.notification, refusal)
                    result.skipped += 1
                }
            }
            last = end.id
            progress(result)
        }
    }

    /// Reads a stored notification as the intake did when it arrived.
    private func facts(of payload: StoredPayload, for apps: ExpectedApps) -> Swift.Result<[SubscriberFact], DataRefusal>
    {
        guard let body = try? NotificationBody(bytes: payload.body) else {
            return .failure(DataRefusal(PayloadError(.unrecognised)))
        }
        let time = payload.notification.receivedAt
        do throws(DataRefusal) {
            let reading =
                switch body {
                case .signed(let text): try reader.read(signed: text, for: apps, at: time)
                case .legacy(let notification): try read(notification, for: apps, at: time)
                }
            return reading.fault.map { .failure($0) } ?? .success(reading.facts)
        } catch { return .failure(error) }
    }

    private func read(
        _ notification: LegacyNotification, for apps: ExpectedApps, at time: Timestamp
    ) throws(DataRefusal) -> NotificationReader.Reading {
        do throws(LegacyNotificationFailure) {
            return try reader.read(legacy: notification, for: apps, in: catalogue, at: time)
        } catch { throw DataRefusal(error) }
    }
}
