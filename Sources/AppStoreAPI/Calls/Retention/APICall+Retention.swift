package import OfferCore

/// An uploaded message or image, and its review state.
package struct UploadedItem: Hashable, Sendable {
    package enum State: String, Sendable {
        case pending = "PENDING"
        case approved = "APPROVED"
        case rejected = "REJECTED"
    }

    package let identifier: String
    /// The review state as received.
    package let state: String
    /// The size of an image; nil for a message.
    package let size: String?

    package var isApproved: Bool { state == State.approved.rawValue }
}

private let messaging = ["inApps", "v1", "messaging"]

extension APICall<Void> {
    /// Creates an Upload Message request. An identifier can be used only once.
    package static func uploadMessage(_ message: RetentionMessage, as identifier: UUIDText) -> Self {
        APICall(
            .uploadMessage, .put, messaging + ["message", "\(identifier)"], body: message.json
        ) { _ in }
    }

    /// Creates a Delete Message request.
    package static func deleteMessage(_ identifier: UUIDText) -> Self {
        APICall(.deleteMessage, .delete, messaging + ["message", "\(identifier)"]) { _ in }
    }

    /// Creates an Upload Image request. An identifier can be used only once.
    package static func uploadImage(_ image: RetentionImage, as identifier: UUIDText) -> Self {
        APICall(
            .uploadImage, .put, messaging + ["image", "\(identifier)"],
            query: [(name: "imageSize", value: image.size.rawValue)], body: image.png, contentType: "image/png"
        ) { _ in }
    }

    /// Creates a Delete Image request. The messages that use the image must be deleted first.
    package static func deleteImage(_ identifier: UUIDText) -> Self {
        APICall(.deleteImage, .delete, messaging + ["image", "\(identifier)"]) { _ in }
    }

    /// Creates a Configure Default Message request. The message replaces the previous default.
    package static func setDefaultMessage(
        _ identifier: UUIDText, for product: ProductID, in locale: String
    ) -> Self {
        var writer = JSONWriter()
        writer.member("messageIdentifier", "\(identifier)")
        return APICall(
            .setDefaultMessage, .put, messaging + ["default", product.text.description, locale], body: writer.finish()
        ) { _ in }
    }

    /// Creates a Delete Default Message request.
    package static func deleteDefaultMessage(for product: ProductID, in locale: String) -> Self {
        APICall(
            .deleteDefaultMessage, .delete, messaging + ["default", product.text.description, locale]
        ) { _ in }
    }

    /// Creates a Configure Realtime URL request. The URL replaces the previous one.
    package static func setRealtimeURL(_ url: RealtimeURL) -> Self {
        var writer = JSONWriter()
        writer.member("realtimeURL", utf8: url.text.utf8)
        return APICall(.setRealtimeURL, .put, messaging + ["realtime", "url"], body: writer.finish()) { _ in }
    }

    /// Creates a Delete Realtime URL request.
    package static func deleteRealtimeURL() -> Self {
        APICall(.deleteRealtimeURL, .delete, messaging + ["realtime", "url"]) { _ in }
    }
}

extension APICall<[UploadedItem]> {
    /// Creates a Get Message List request.
    package static func messages() -> Self {
        APICall(.messageList, .get, messaging + ["message", "list"], isLarge: true) { answer throws(AnswerError) in
            try answer.uploaded("messageIdentifiers", "messageIdentifier", state: "messageState")
        }
    }

    /// Creates a Get Image List request.
    package static func images() -> Self {
        APICall(.imageList, .get, messaging + ["image", "list"], isLarge: true) { answer throws(AnswerError) in
            try answer.uploaded("imageIdentifiers", "imageIdentifier", state: "imageState")
        }
    }
}

extension APICall<String> {
    /// Creates a Get Default Message request. The answer is the identifier of the message.
    package static func defaultMessage(for product: ProductID, in locale: String) -> Self {
        APICall(.defaultMessage, .get, messaging + ["default", product.text.description, locale]) {
            answer throws(AnswerError) in
            String(decoding: try answer.text("messageIdentifier"), as: UTF8.self)
        }
    }

    /// Creates a Get Realtime URL request.
    package static func realtimeURL() -> Self {
        APICall(.realtimeURL, .get, messaging + ["realtime", "url"]) { answer throws(AnswerError) in
            String(decoding: try answer.text("realtimeURL"), as: UTF8.self)
        }
    }
}

extension APICall<StartedPerformanceTest> {
    /// Creates an Initiate Performance Test request, for the sandbox.
    /// - Parameter id: the original transaction ID of an active subscription that was bought in the sandbox.
    package static func startPerformanceTest(with id: TransactionNumber) -> Self {
        var writer = JSONWriter()
        writer.member("originalTransactionId", id.text)
        return APICall(.startPerformanceTest, .post, messaging + ["performanceTest"], body: writer.finish()) {
            answer throws(AnswerError) in
            guard let configuration = try answer.object("config") else { throw answer.missing("config") }
            return StartedPerformanceTest(
                requestID: String(decoding: try answer.text("requestId"), as: UTF8.self),
                configuration: try PerformanceTestConfiguration(configuration))
        }
    }
}

extension APICall<PerformanceTestResult> {
    /// Creates a Get Performance Test Results request.
    package static func performanceTestResult(_ requestID: String) -> Self {
        APICall(.performanceTestResult, .get, messaging + ["performanceTest", "result", requestID]) {
            answer throws(AnswerError) in
            PerformanceTestResult(
                outcome: PerformanceTestResult.Outcome(
                    rawValue: String(decoding: try answer.text("result"), as: UTF8.self)),
                successRate: try answer.optionalInteger("successRate"), json: answer.json)
        }
    }
}

extension AnswerReader {
    fileprivate func uploaded(
        _ list: String, _ identifier: String, state: String
    ) throws(AnswerError) -> [UploadedItem] {
        var items: [UploadedItem] = []
        for item in try objects(list) {
            items.append(
                UploadedItem(
                    identifier: String(decoding: try item.text(identifier), as: UTF8.self),
                    state: String(decoding: try item.text(state), as: UTF8.self),
                    size: try item.optionalText("imageSize").map { String(decoding: $0, as: UTF8.self) }))
        }
        return items
    }
}
