import AppStoreAPI
import AppStoreStandIn
import AppStoreTestSupport
import Foundation
import OfferCore
import OfferEligibility
import TestSupport
import Testing

@Suite("The endpoints for retention messages")
struct RetentionTests {
    private static let sandbox = AppScope(bundleID: StandInFixture.app.bundleID, environment: .sandbox)

    private static func id(_ number: UInt64) -> UUIDText { UUIDText(high: 5, low: number) }

    private static func refusal(_ work: () async throws -> Void) async -> Int64? {
        do {
            try await work()
            return nil
        } catch APIFailure.refused(let code) { return code.rawValue } catch { return 0 }
    }

    @Test("messages are uploaded once, listed with their states, and deleted; a default must be approved")
    func messages() async throws {
        let fixture = try await StandInFixture()
        let product = try ProductID(utf8: Array("com.example/app?".utf8))
        try await fixture.withClient { client in
            let message = try RetentionMessage(header: "Stay", body: "Please")
            try await client.send(.uploadMessage(message, as: Self.id(1)), for: StandInFixture.app)
            #expect(
                await Self.refusal {
                    try await client.send(.uploadMessage(message, as: Self.id(1)), for: StandInFixture.app)
                } == 4_090_001)
            let listed = try await client.send(.messages(), for: StandInFixture.app)
            #expect(listed.map { $0.identifier.lowercased() } == [Self.id(1).description])
            #expect(listed[0].state == "PENDING" && !listed[0].isApproved)
            #expect(
                await Self.refusal {
                    try await client.send(
                        .setDefaultMessage(Self.id(1), for: product, in: "en-US"), for: StandInFixture.app)
                } == 4_030_017)
            fixture.standIn.retention[0].approveAll()
            #expect(try await client.send(.messages(), for: StandInFixture.app)[0].isApproved)
            try await client.send(.setDefaultMessage(Self.id(1), for: product, in: "en-US"), for: StandInFixture.app)
            #expect(
                try await client.send(.defaultMessage(for: product, in: "en-US"), for: StandInFixture.app)
                    == Self.id(1).description)
            #expect(
                await Self.refusal {
                    _ = try await client.send(.defaultMessage(for: product, in: "de"), for: StandInFixture.app)
                } == 4_040_020)
            try await client.send(.deleteDefaultMessage(for: product, in: "en-US"), for: StandInFixture.app)
            try await client.send(.deleteMessage(Self.id(1)), for: StandInFixture.app)
            #expect(try await client.send(.messages(), for: StandInFixture.app).isEmpty)
            #expect(
                await Self.refusal { try await client.send(.deleteMessage(Self.id(1)), for: StandInFixture.app) }
                    == 4_040_015)
            // The sandbox has its own, and approves them at once.
            try await client.send(.uploadMessage(message, as: Self.id(1)), for: Self.sandbox)
            #expect(try await client.send(.messages(), for: Self.sandbox)[0].isApproved)
        }
    }

    @Test("an image is uploaded as PNG, and cannot be deleted while a message uses it")
    func images() async throws {
        let fixture = try await StandInFixture()
        try await fixture.withClient { client in
            let png = try RetentionImage(png: PNG.make(3840, 160), size: .full)
            try await client.send(.uploadImage(png, as: Self.id(1)), for: Self.sandbox)
            #expect(
                await Self.refusal { try await client.send(.uploadImage(png, as: Self.id(1)), for: Self.sandbox) }
                    == 4_090_000)
            let listed = try await client.send(.images(), for: Self.sandbox)
            #expect(listed.count == 1 && listed[0].size == "FULL_SIZE" && listed[0].isApproved)
            let image = try RetentionMessage.Image(identifier: Self.id(1), altText: "A couch")
            let message = try RetentionMessage(
                header: "Stay", body: "Please", image: image, headerPosition: .aboveImage)
            try await client.send(.uploadMessage(message, as: Self.id(2)), for: Self.sandbox)
            #expect(
                await Self.refusal { try await client.send(.deleteImage(Self.id(1)), for: Self.sandbox) } == 4_030_019)
            try await client.send(.deleteMessage(Self.id(2)), for: Self.sandbox)
            try await client.send(.deleteImage(Self.id(1)), for: Self.sandbox)
            #expect(try await client.send(.images(), for: Self.sandbox).isEmpty)
        }
    }

    @Test("the URL of production needs a passed performance test")
    func url() async throws {
        let fixture = try await StandInFixture()
        try await fixture.withClient { client in
            let url = try RealtimeURL("https://offers.example.com/v1/retention-messages")
            #expect(
                await Self.refusal { _ = try await client.send(.realtimeURL(), for: Self.sandbox) } == 4_040_021)
            try await client.send(.setRealtimeURL(url), for: Self.sandbox)
            #expect(try await client.send(.realtimeURL(), for: Self.sandbox) == url.text.description)
            #expect(
                await Self.refusal { try await client.send(.setRealtimeURL(url), for: StandInFixture.app) } == 4_030_026
            )
            try await client.send(.deleteRealtimeURL(), for: Self.sandbox)
            #expect(
                await Self.refusal { try await client.send(.deleteRealtimeURL(), for: Self.sandbox) } == 4_040_021)
        }
    }

    @Test("a performance test is started with an original transaction, in the sandbox, once at a time")
    func performanceTest() async throws {
        let fixture = try await StandInFixture()
        let id = try fixture.number(try #require(fixture.standIn.sandbox.subscriptions.joined().first))
        try await fixture.withClient { client in
            let test = APICall<StartedPerformanceTest>.startPerformanceTest
            #expect(await Self.refusal { _ = try await client.send(test(id), for: Self.sandbox) } == 4_040_021)
            // Nothing listens there, so every request fails at once.
            try await client.send(.setRealtimeURL(RealtimeURL("https://127.0.0.1:1/")), for: Self.sandbox)
            #expect(await Self.refusal { _ = try await client.send(test(id), for: StandInFixture.app) } == 4_000_211)
            #expect(
                await Self.refusal { _ = try await client.send(test(.neverIssued), for: Self.sandbox) } == 4_000_006)
            let started = try await client.send(test(id), for: Self.sandbox)
            #expect(started.configuration.totalRequests == 100 && started.configuration.successRateThreshold == 98)
            #expect(await Self.refusal { _ = try await client.send(test(id), for: Self.sandbox) } == 4_000_213)
            let result = try await client.send(.performanceTestResult(started.requestID), for: Self.sandbox)
            #expect(
                result.outcome == .pending && String(decoding: result.json, as: UTF8.self).contains(#""numPending":"#))
            #expect(
                await Self.refusal { _ = try await client.send(.performanceTestResult("x"), for: Self.sandbox) }
                    == 4_040_018)
        }
    }

    // MARK: Local checks

    @Test("a message that Apple would refuse is refused before it is sent")
    func messageLimits() throws {
        func text(_ count: Int) -> String { String(repeating: "ü", count: count) }
        let image = try RetentionMessage.Image(identifier: Self.id(1), altText: text(150))
        let bullet = try RetentionMessage.Bullet(text: text(66), image: image)
        _ = try RetentionMessage(
            header: text(66), body: text(144), image: image, headerPosition: .aboveImage,
            bullets: Array(repeating: bullet, count: 5))
        #expect(throws: UploadFault.tooLong(field: "header", characters: 66)) {
            try RetentionMessage(header: text(67), body: "b")
        }
        #expect(throws: UploadFault.tooLong(field: "body", characters: 144)) {
            try RetentionMessage(header: "h", body: text(145))
        }
        #expect(throws: UploadFault.tooLong(field: "altText", characters: 150)) {
            try RetentionMessage.Image(identifier: Self.id(1), altText: text(151))
        }
        #expect(throws: UploadFault.tooLong(field: "a bullet point", characters: 66)) {
            try RetentionMessage.Bullet(text: text(67), image: image)
        }
        #expect(throws: UploadFault.tooManyBullets) {
            try RetentionMessage(header: "h", body: "b", bullets: Array(repeating: bullet, count: 6))
        }
        #expect(throws: UploadFault.headerAboveImage) {
            try RetentionMessage(header: "h", body: "b", headerPosition: .aboveImage)
        }
        #expect(throws: UploadFault.self) { try RetentionMessage(header: "", body: "b") }
    }

    @Test("an image must be an opaque PNG of the right size")
    func imageChecks() throws {
        for height in [160, 2160] { _ = try RetentionImage(png: PNG.make(3840, height), size: .full) }
        _ = try RetentionImage(png: PNG.make(1024, 1024), size: .bulletPoint)
        for (width, height) in [(3839, 160), (3840, 159), (3840, 2161), (1024, 1024)] {
            #expect(throws: UploadFault.wrongDimensions(.full, width: width, height: height)) {
                try RetentionImage(png: PNG.make(width, height), size: .full)
            }
        }
        for colour in [4, 6] as [UInt8] {
            #expect(throws: UploadFault.transparent) {
                try RetentionImage(png: PNG.make(3840, 160, colour: colour), size: .full)
            }
        }
        #expect(throws: UploadFault.transparent) {
            try RetentionImage(png: PNG.make(3840, 160, more: ["tRNS"]), size: .full)
        }
        let good = PNG.make(3840, 160)
        for bad in [
            [], Array("GIF89a".utf8), Array(good.dropLast()), Array(good.prefix(40)), [0x88] + good.dropFirst(),
        ] {
            #expect(throws: UploadFault.notPNG) { try RetentionImage(png: bad, size: .full) }
        }
    }

    @Test(
        "a URL must be HTTPS with a host, and short",
        arguments: ["http://a.example/", "https://", "https:///x", "ftp://a", "https://a b", "https://ü.example"])
    func urls(text: String) throws {
        #expect(throws: UploadFault.notHTTPS) { try RealtimeURL(text) }
        _ = try RealtimeURL("https://a.example/" + String(repeating: "x", count: 238))
        #expect(throws: UploadFault.notHTTPS) {
            try RealtimeURL("https://a.example/" + String(repeating: "x", count: 239))
        }
    }
}

/// PNG files without pixels, as far as checks read them.
private enum PNG {
    static func make(_ width: Int, _ height: Int, colour: UInt8 = 2, more: [String] = []) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
            number(data.count) + Array(name.utf8) + data + number(0)
        }
        let header = number(width) + number(height) + [8, colour, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header)
            + more.flatMap { chunk($0, [0]) } + chunk("IDAT", [1, 2, 3]) + chunk("IEND", [])
    }
}
