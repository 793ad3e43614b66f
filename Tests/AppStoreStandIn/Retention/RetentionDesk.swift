import AppStoreTestSupport
import Foundation
import NIOConcurrencyHelpers
import OfferCore

/// What a team has set up for retention messages in one environment, and Apple's rules for it.
package final class RetentionDesk: Sendable {
    private struct State {
        /// Message and image identifiers with their states. The sandbox approves at once.
        var messages: [String: String] = [:]
        var images: [String: (state: String, size: String)] = [:]
        /// The image that each message uses.
        var imageOfMessage: [String: String] = [:]
        /// By product and locale.
        var defaults: [String: String] = [:]
        var url: String?
        var tests: [String: PerformanceTest.Result] = [:]
    }

    private let world: StandInWorld
    private let state = NIOLockedValueBox(State())
    private let now: @Sendable () -> Int64
    /// What a performance test demands.
    private let settings: PerformanceTest.Settings
    /// Where a passed test is noted, for both environments.
    private let hasPassed: NIOLockedValueBox<Bool>

    init(
        _ world: StandInWorld, test settings: PerformanceTest.Settings, hasPassed: NIOLockedValueBox<Bool>,
        now: @escaping @Sendable () -> Int64
    ) {
        self.world = world
        self.settings = settings
        self.hasPassed = hasPassed
        self.now = now
    }

    private var isSandbox: Bool { world.settings.environment != "Production" }

    /// Approves what was uploaded, as Apple's reviewers do in production.
    package func approveAll() {
        state.withLockedValue { state in
            for id in state.messages.keys { state.messages[id] = "APPROVED" }
            for id in state.images.keys { state.images[id]?.state = "APPROVED" }
        }
    }

    /// Sets the URL, as if Apple had accepted one without a certificate.
    package func replaceURL(_ url: String) { state.withLockedValue { $0.url = url } }

    /// The name of an endpoint, as statistics have it; nil if it is none of these.
    static func endpoint(_ method: String, _ path: [String]) -> String? {
        guard path.count >= 4, path[2] == "messaging" else { return nil }
        switch (method, path[3], path.count) {
        case ("PUT", "realtime", 5): return "set_realtime_url"
        case ("GET", "realtime", 5): return "realtime_url"
        case ("DELETE", "realtime", 5): return "delete_realtime_url"
        case ("POST", "performanceTest", 4): return "start_performance_test"
        case ("GET", "performanceTest", 6): return "performance_test_result"
        case ("GET", "message", 5) where path[4] == "list": return "message_list"
        case ("PUT", "message", 5): return "upload_message"
        case ("DELETE", "message", 5): return "delete_message"
        case ("GET", "image", 5) where path[4] == "list": return "image_list"
        case ("PUT", "image", 5): return "upload_image"
        case ("DELETE", "image", 5): return "delete_image"
        case ("PUT", "default", 6): return "set_default_message"
        case ("GET", "default", 6): return "default_message"
        case ("DELETE", "default", 6): return "delete_default_message"
        default: return nil
        }
    }

    func answer(_ endpoint: String, _ request: StandInRequest) throws -> [UInt8] {
        let last = (request.path.last ?? "").lowercased()
        switch endpoint {
        case "upload_message": try uploadMessage(last, Self.members(request))
        case "delete_message":
            try delete(else: (4_040_015, "Message not found.")) { state in
                state.imageOfMessage[last] = nil
                return state.messages.removeValue(forKey: last) != nil
            }
        case "message_list":
            return list("messageIdentifiers", state.withLockedValue { $0.messages }.sorted { $0.key < $1.key }) {
                $0.member("messageIdentifier", $1.key.uppercased())
                $0.member("messageState", $1.value)
            }
        case "upload_image": try uploadImage(last, request)
        case "delete_image":
            guard !state.withLockedValue({ $0.imageOfMessage.values.contains(last) }) else {
                throw StandInWorld.Refusal(4_030_019, "The image is in use.")
            }
            try delete(else: (4_040_014, "Image not found.")) { $0.images.removeValue(forKey: last) != nil }
        case "image_list":
            return list("imageIdentifiers", state.withLockedValue { $0.images }.sorted { $0.key < $1.key }) {
                $0.member("imageIdentifier", $1.key.uppercased())
                $0.member("imageState", $1.value.state)
                $0.member("imageSize", $1.value.size)
            }
        case "set_default_message": try setDefault(request)
        case "default_message":
            guard let id = state.withLockedValue({ $0.defaults[Self.place(request)] }) else {
                throw StandInWorld.Refusal(4_040_020, "Default message not found.")
            }
            return Self.object { $0.member("messageIdentifier", id) }
        case "delete_default_message":
            try delete(else: (4_040_020, "Default message not found.")) {
                $0.defaults.removeValue(forKey: Self.place(request)) != nil
            }
        case "set_realtime_url": try setURL(Self.text("realtimeURL", request))
        case "realtime_url":
            let url = try url()
            return Self.object { $0.member("realtimeURL", url) }
        case "delete_realtime_url":
            _ = try url()
            state.withLockedValue { $0.url = nil }
        case "start_performance_test": return try startTest(Self.text("originalTransactionId", request))
        default:
            guard let result = state.withLockedValue({ $0.tests[last] }) else {
                throw StandInWorld.Refusal(4_040_018, "Performance test run not found.")
            }
            return result.json
        }
        return []
    }

    // MARK: Messages and images

    private func uploadMessage(_ id: String, _ members: JSONObject) throws {
        guard let header = Self.text(members["header"]), let body = Self.text(members["body"]) else {
            throw StandInWorld.Refusal(4_000_000, "Bad request.")
        }
        guard header.count <= 66 else { throw StandInWorld.Refusal(4_000_162, "The header is too long.") }
        guard body.count <= 144 else { throw StandInWorld.Refusal(4_000_163, "The body is too long.") }
        var image: String?
        if case .object(let members)? = members["image"] { image = Self.text(members["imageIdentifier"])?.lowercased() }
        let isKnown = state.withLockedValue { state in
            guard state.messages[id] == nil else { return true }
            state.messages[id] = isSandbox ? "APPROVED" : "PENDING"
            state.imageOfMessage[id] = image
            return false
        }
        if isKnown { throw StandInWorld.Refusal(4_090_001, "Message already exists.") }
    }

    private func uploadImage(_ id: String, _ request: StandInRequest) throws {
        guard request.body.starts(with: [0x89, 0x50, 0x4E, 0x47]) else {
            throw StandInWorld.Refusal(4_000_161, "Invalid image.")
        }
        let size = request.value("imageSize") ?? "FULL_SIZE"
        let isKnown = state.withLockedValue { state in
            guard state.images[id] == nil else { return true }
            state.images[id] = (isSandbox ? "APPROVED" : "PENDING", size)
            return false
        }
        if isKnown { throw StandInWorld.Refusal(4_090_000, "Image already exists.") }
    }

    /// - Parameter remove: returns whether there was something.
    private func delete(else refusal: (Int64, String), _ remove: (inout State) -> Bool) throws {
        guard state.withLockedValue(remove) else { throw StandInWorld.Refusal(refusal.0, refusal.1) }
    }

    private func setDefault(_ request: StandInRequest) throws {
        let id = try Self.text("messageIdentifier", request).lowercased()
        guard let messageState = state.withLockedValue({ $0.messages[id] }) else {
            throw StandInWorld.Refusal(4_040_015, "Message not found.")
        }
        guard messageState == "APPROVED" else { throw StandInWorld.Refusal(4_030_017, "Message not approved.") }
        state.withLockedValue { $0.defaults[Self.place(request)] = id }
    }

    // MARK: URL and test

    private func url() throws -> String {
        guard let url = state.withLockedValue({ $0.url }) else {
            throw StandInWorld.Refusal(4_040_021, "Realtime URL not found.")
        }
        return url
    }

    private func setURL(_ url: String) throws {
        guard url.hasPrefix("https://"), url.count <= 256 else {
            throw StandInWorld.Refusal(4_000_215, "Invalid realtime URL.")
        }
        guard isSandbox || hasPassed.withLockedValue({ $0 }) else {
            throw StandInWorld.Refusal(4_030_026, "No passed performance test.")
        }
        state.withLockedValue { $0.url = url }
    }

    private func startTest(_ id: String) throws -> [UInt8] {
        guard isSandbox else { throw StandInWorld.Refusal(4_000_211, "Invalid performance test request.") }
        try world.checkTestTransaction(id)
        let target = try url()
        let requestID = UUID().uuidString.lowercased()
        let isRunning = state.withLockedValue { state in
            guard !state.tests.values.contains(where: { $0.pending > 0 }) else { return true }
            state.tests[requestID] = PerformanceTest.Result(settings, target: target)
            return false
        }
        if isRunning { throw StandInWorld.Refusal(4_000_213, "A performance test is running.") }
        let test = PerformanceTest(
            settings, world: world, target: target, subscriptions: [(id, world.product(of: id) ?? "")], now: now)
        Task {
            let result = await test.run { [state] result in
                state.withLockedValue { state in
                    // Results can arrive out of order.
                    if result.pending < state.tests[requestID]?.pending ?? 0 { state.tests[requestID] = result }
                }
            }
            if result.outcome == "PASS" { hasPassed.withLockedValue { $0 = true } }
        }
        return Self.object { [settings] in
            $0.rawValue("config", settings.json)
            $0.member("requestId", requestID)
        }
    }

    // MARK: JSON

    private static func place(_ request: StandInRequest) -> String { request.path.suffix(2).joined(separator: " ") }

    private static func members(_ request: StandInRequest) throws -> JSONObject {
        guard case .object(let members)? = try? JSONReader.read(request.body) else {
            throw StandInWorld.Refusal(4_000_000, "Bad request.")
        }
        return members
    }

    private static func text(_ name: String, _ request: StandInRequest) throws -> String {
        guard let text = text(try members(request)[name]) else { throw StandInWorld.Refusal(4_000_000, "Bad request.") }
        return text
    }

    private static func text(_ value: JSONValue?) -> String? {
        if case .string(let utf8)? = value { String(decoding: utf8, as: UTF8.self) } else { nil }
    }

    private static func object(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        write(&writer)
        return writer.finish()
    }

    private func list<Item>(
        _ name: String, _ items: [Item], _ write: (inout JSONWriter, Item) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.objects(name, items, write)
        return writer.finish()
    }
}
