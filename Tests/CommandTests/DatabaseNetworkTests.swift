import StoreTestSupport
import TestSupport
import Testing

/// What the service does when the network to PostgreSQL fails. Needs the rights of root, for a network namespace.
@Suite("The network to PostgreSQL", .serialized, .timeLimit(.minutes(10)))
struct DatabaseNetworkTests {
    @Test(
        "while the database is out of reach, nothing that needs it is answered with 200, offers go on, and all returns by itself"
    )
    func lost() async throws {
        let network = try await DatabaseNetwork(customers: 20, limits: "{perCustomer: 1}")
        let service = try await onOwnThread { try network.start() }
        var answered = try await answers(network, service, 1)
        #expect(answered == [200, 200, 200])

        let losses: [(String, @Sendable () throws -> Void, @Sendable () throws -> Void)] = [
            ("no route", network.removeRoute, network.restoreRoute),
            ("silence", network.dropPackets, network.restore),
            (
                "half open: the server restarts and has forgotten its connections",
                {
                    try network.dropPackets()
                    try network.server.crash()
                    try network.server.start()
                }, network.restore
            ),
        ]
        for (number, (name, lose, restore)) in losses.enumerated() {
            try await onOwnThread(lose)
            for attempt in 0..<3 {
                answered = try await answers(network, service, UInt64(10 * number + attempt + 2))
                #expect(answered == [503, 503, 200], "\(name)")
            }
            try await onOwnThread(restore)
            try await waitUntil {
                try await answers(network, service, UInt64(10 * number + 8)) == [200, 200, 200]
            }
        }
        #expect(try await onOwnThread { service.stop() } == 0)
        // One that got no answer may be stored: the App Store repeats it, and it is known then.
        #expect(try await network.storedNotifications() >= 4)
    }

    @Test("with 200 ms to the database and back, everything is answered, and each customer gets one signature")
    func slow() async throws {
        let network = try await DatabaseNetwork(customers: 6, limits: "{perCustomer: 1}")
        let service = try await onOwnThread { try network.start() }
        try await onOwnThread { try network.setRoundTrip(milliseconds: 200) }
        var signatures = 0
        for customer in [1, 2, 3, 1, 2, 3] as [UInt64] {
            let answer = try await onOwnThread { try network.decide(customer, service) }
            #expect(answer.status == 200, "\(answer.body)")
            if answer.body.contains(#""offerID":"half""#),
                answer.body.contains("compactJWS") || answer.body.contains("nonce")
            {
                signatures += 1
            }
        }
        for notification in IntakeProcess.plan(3) {
            #expect(try await onOwnThread { try network.notify(notification, service).status } == 200)
        }
        #expect(try await onOwnThread { service.stop() } == 0)
        #expect(signatures >= 3)
        #expect(try await network.reservedNonces().count == 3)
        #expect(try await network.storedNotifications() == 3)
    }

    /// The statuses of a decision, a notification and an offer without a rule. Whatever is 503 says when to try again.
    private func answers(
        _ network: DatabaseNetwork, _ service: RunningService, _ number: UInt64
    ) async throws -> [Int] {
        try await onOwnThread {
            let all = [
                try network.decide(number % 20 + 1, service),
                try network.notify(IntakeProcess.plan(Int(number))[Int(number) - 1], service),
                try network.signPlain(service),
            ]
            for answer in all where answer.status == 503 { #expect(answer.retryAfter != "", "\(answer.body)") }
            return all.map(\.status)
        }
    }
}
