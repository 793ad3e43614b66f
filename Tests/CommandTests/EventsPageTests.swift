import Foundation
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// Follows docs/events.md with a customer in the database.
@Suite("docs/events.md", .serialized, .timeLimit(.minutes(5)))
struct EventsPageTests {
    private let walk: PageWalk
    private let receiverPort: Int

    init() async throws {
        walk = try await PageWalk("docs/events.md")
        receiverPort = try await FreePort.find()
    }

    @Test("every code block on the page has a test")
    func everyBlockIsKnown() {
        #expect(walk.blocks.map(\.language) == ["yaml", "json"])
    }

    @Test("a customer who switches auto-renew off becomes an event like the one on the page, with its signature")
    func walked() async throws {
        let settings = """
            cat > offers.yaml <<END
            \(walk.block(0).replacing(":9000", with: ":\(receiverPort)"))
            END
            export SUBSCRIPTION_OFFERS_CONFIG=offers.yaml SUBSCRIPTION_OFFERS_DATABASE=sqlite:subscribers.sqlite
            export SUBSCRIPTION_OFFERS_KEY_ID=2X9R4HXF34 SUBSCRIPTION_OFFERS_FORWARD_KEY=0123456789abcdef0123456789abcdef
            cat > receiver.py <<'END'
            import http.server, sys
            class Receiver(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    body = self.rfile.read(int(self.headers['Content-Length']))
                    open('body.json', 'wb').write(body)
                    open('headers', 'w').write(self.headers['Offer-Signer-Event'] + ' ' + self.headers['Offer-Signer-Signature'] + '\\n')
                    open('received', 'ab').write(body + b'\\n')
                    self.send_response(200)
                    self.end_headers()
                def log_message(self, *arguments):
                    pass
            http.server.HTTPServer(('127.0.0.1', \(receiverPort)), Receiver).handle_request()
            END
            """
        try await add(isRenewing: true, day: -1)
        let ready = walk.folder.path + "/ready"
        let walk = walk
        async let outcome = Task.detached {
            try walk.run(
                start: "\(settings)\noffer-signer serve --keys-dir keys\n",
                // The trap of the walk ends it.
                "python3 receiver.py >receiver.out 2>&1 &", "sleep 2", "touch \(ready)",
                "until [ -s received ]; do sleep 0.1; done", "read id signature <headers", "cat received", "echo",
                "echo \"$id\"", "time=${signature#t=}", "time=${time%%,*}",
                "code=$( (printf '%s.' \"$time\"; cat body.json) | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef | sed 's/.* //')",
                "[ \"$signature\" = \"t=$time,v1=$code\" ] && echo good")
        }.value
        try await waitUntil { FileManager.default.fileExists(atPath: ready) }
        try await add(isRenewing: false, day: 0)
        let result = try await outcome
        #expect(result.status == 0, "\(result.standardError)")
        let lines = result.standardOutput.split(separator: "\n").map(String.init)
        try #require(lines.count == 3, "\(lines)")
        let shape = #/"(id|at|originalTransactionID)":("[^"]*"|\d+)/#
        func shaped(_ text: String) -> String {
            text.replacing("\n ", with: "").replacing("\n", with: "").replacing(shape) { "\"\($0.output.1)\":0" }
        }
        #expect(shaped(lines[0]) == shaped(walk.block(1)))
        #expect(lines[0].contains(#""id":"\#(lines[1])""#))
        #expect(lines[2] == "good")
    }

    /// Adds facts about the customer of the page's example.
    private func add(isRenewing: Bool, day: Double) async throws {
        let store = try #require(StoreLocation("sqlite:\(walk.folder.path)/subscribers.sqlite")).open()
        let today = (Date().timeIntervalSince1970 * 1000 - Double(Sample.day(0).milliseconds)) / 86_400_000
        let id = "2000000123456789"
        let token = UUIDText(parsing: Array("d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10".utf8))
        let transaction = Sample.transaction(id, of: id, today - 2, today + 28) { $0.appAccountToken = token }
        let renewal = Sample.renewal(of: id, signed: today + day) { renewal in
            renewal = Renewal(productID: renewal.productID, autoRenewStatus: isRenewing ? .on : .off)
            renewal.appAccountToken = token
        }
        try await store.merge([transaction, renewal], in: Sample.production)
        try store.close()
    }
}
