package import AppStoreData
package import OfferConfiguration
import OfferCore
import OfferCrypto
package import OfferEligibility
package import SubscriberStore

/// Derives the facts of all kept notifications again, for example after a bug in the reader was fixed.
///
/// Facts derived earlier from the same signed texts are replaced, or withdrawn if they are no longer derived. Facts
/// from proofs, and from notifications that are no longer kept, stay unchanged.
package struct NotificationReplay: Sendable {
    package struct Result: Hashable, Sendable {
        package fileprivate(set) var read = 0
        package fileprivate(set) var skipped = 0
        /// The number of facts that are no longer derived.
        package fileprivate(set) var withdrawn = 0
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
    ///   - progress: called after each page with the counts so far.
    ///   - skip: called with each notification that cannot be read, and the reason.
    package func run(
        progress: (Result) -> Void, skip: (NotificationRecord, DataRefusal) -> Void
    ) async throws(StoreError) -> Result {
        let apps: ExpectedApps
        do { apps = try catalogue.expectedApps } catch {
            throw StoreError(.fault, "the apps in the configuration contradict each other")
        }
        var result = try await readAll(for: apps, progress, skip)
        // A second reading merges the facts that a withdrawn fact had displaced.
        if result.withdrawn > 0 {
            let withdrawn = result.withdrawn
            result = try await readAll(for: apps, progress) { _, _ in }
            result.withdrawn += withdrawn
        }
        return result
    }

    private func readAll(
        for apps: ExpectedApps, _ progress: (Result) -> Void, _ skip: (NotificationRecord, DataRefusal) -> Void
    ) async throws(StoreError) -> Result {
        var result = Result()
        var last: StoredPayload.ID?
        while case let page = try await store.payloads(after: last, limit: Self.pageSize), let end = page.last {
            var reread: [RereadPayload] = []
            for payload in page {
                switch read(payload, for: apps) {
                case .success(let payload): reread.append(payload)
                case .failure(let refusal):
                    skip(payload.notification, refusal)
                    result.skipped += 1
                }
            }
            result.withdrawn += try await store.rederive(reread)
            result.read += reread.count
            last = end.id
            progress(result)
        }
        return result
    }

    /// Reads a stored notification as the intake did when it arrived.
    private func read(_ payload: StoredPayload, for apps: ExpectedApps) -> Swift.Result<RereadPayload, DataRefusal> {
        guard let body = try? NotificationBody(bytes: payload.body) else {
            return .failure(DataRefusal(PayloadError(.unrecognised)))
        }
        do throws(DataRefusal) {
            let reading = try reader.read(
                body, for: apps.asked(about: payload.app), in: catalogue, at: payload.notification.receivedAt)
            if let fault = reading.fault { return .failure(fault) }
            let digests = try digests(of: reading.signedTexts)
            return .success(RereadPayload(id: payload.id, facts: reading.facts, digests: digests))
        } catch { return .failure(error) }
    }

    private func digests(of texts: [[UInt8]]) throws(DataRefusal) -> Set<[UInt8]> {
        do { return try Set(texts.map(SHA256.hash)) } catch {
            throw DataRefusal(VerificationFailure(.verificationUnavailable))
        }
    }
}
