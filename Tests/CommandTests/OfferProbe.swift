import NIOConcurrencyHelpers
import TestSupport
import Testing

/// Requests offers without a rule again and again, from both routes, while something else fails.
struct OfferProbe: Sendable {
    private static let requests = [
        "/offer":
            #"{"appBundleID":"com.example.app","productIdentifier":"com.example.app.pro.monthly","#
            + #""offerID":"retention_50off_3m","applicationUsername":"u"}"#,
        "/v1/promotional-offers":
            #"{"bundleID":"com.example.app","productID":"com.example.app.pro.monthly","#
            + #""offerID":"retention_50off_3m","applicationUsername":"u"}"#,
    ]

    /// Runs `body`, and expects that every offer in the meantime, at least one from each route, got 200.
    static func whileOffersGoOn(
        on service: RunningService, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let isOver = NIOLockedValueBox(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (path, json) in requests {
                group.addTask {
                    repeat {
                        let response = try await service.post(path, json)
                        #expect(response.status == 200, "\(path): \(response.text)")
                        try await Task.sleep(for: .milliseconds(50))
                    } while !isOver.withLockedValue { $0 }
                }
            }
            group.addTask {
                defer { isOver.withLockedValue { $0 = true } }
                try await body()
            }
            try await group.waitForAll()
        }
    }
}
