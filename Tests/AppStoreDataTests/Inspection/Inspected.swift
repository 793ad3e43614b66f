import AppStoreData
import Foundation
import OfferCore
import OfferCrypto
import Testing

@testable import AppStoreTestSupport

/// The result of an inspection, read as JSON as the reader of a command's output does.
struct Inspected {
    let members: [String: Any]

    init(_ inspection: Inspection) throws {
        members = try #require(JSONSerialization.jsonObject(with: Data(inspection.json)) as? [String: Any])
    }

    private init(members: [String: Any]) { self.members = members }

    var isVerified: Bool? { members["verified"] as? Bool }
    var kind: String? { members["kind"] as? String }
    var reason: String? { members["reason"] as? String }
    var sentence: String? { members["sentence"] as? String }
    var member: String? { members["member"] as? String }
    var effectiveDate: String? { members["effectiveDate"] as? String }
    var payload: [String: Any]? { members["payload"] as? [String: Any] }
    var certificates: [[String: String]] { members["certificates"] as? [[String: String]] ?? [] }
    var subjects: [String?] { certificates.map { $0["subject"] } }

    /// The inspection of a JWS inside a notification.
    subscript(member: String) -> Inspected? {
        let inner = members["inner"] as? [String: [String: Any]]
        return inner?[member].map(Inspected.init)
    }
}

extension Inspected {
    /// Inspects data signed by ``TestChain/standard``, at ``TestTime/now``.
    static func jws(
        _ input: [UInt8], _ options: InspectionOptions = InspectionOptions(), at seconds: Int64 = TestTime.now
    ) throws -> Inspected {
        try Inspected(input, trusting: TestChain.standard.get().root, options, at: seconds)
    }

    /// - Parameter root: a certificate in DER.
    init(
        _ input: [UInt8], trusting root: [UInt8], _ options: InspectionOptions = InspectionOptions(),
        isDevelopment: Bool = false, at seconds: Int64 = TestTime.now
    ) throws {
        let inspector = Inspector(
            roots: TrustedRoots([try X509Certificate(der: root)]), isDevelopment: isDevelopment, options: options,
            now: Timestamp(milliseconds: seconds * 1000))
        try self.init(inspector.inspect(input))
    }
}

extension SamplePayload {
    /// The payload, signed by ``TestChain/standard``, at ``TestTime/now`` if it has a date.
    func signed() throws -> [UInt8] {
        let date = ["signedDate", "receiptCreationDate"].first(where: names.contains)
        let payload = date.map { with($0, "\(TestTime.now)123") } ?? self
        return try TestChain.standard.get().jws(payload: payload.text)
    }

    /// The payload with a text member.
    func with(_ name: String, jws: [UInt8]) -> SamplePayload {
        with(name, "\"\(String(decoding: jws, as: UTF8.self))\"")
    }
}
