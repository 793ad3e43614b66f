import Logging
import OfferHTTP
import Testing

@Suite("Traces")
struct TraceTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    @Test(
        "the trace ID is read from traceparent version 00 or later",
        arguments: [
            "00-\(trace)-00f067aa0ba902b7-01", "00-\(trace)-00f067aa0ba902b7-00", "00-\(trace)-00f067aa0ba902b7-ff",
            "01-\(trace)-00f067aa0ba902b7-01", "cc-\(trace)-00f067aa0ba902b7-01-what the future brings",
            "cc-\(trace)-00f067aa0ba902b7-01-",
        ])
    func taken(traceparent: String) {
        let context = RequestContext(traceparent: traceparent)
        #expect(context.traceID?.text == Self.trace)
        #expect(context.metadata()["traceID"]?.description == Self.trace)
    }

    @Test(
        "a malformed traceparent is ignored",
        arguments: [
            nil, "", "00", "ff-\(trace)-00f067aa0ba902b7-01", "0-\(trace)-00f067aa0ba902b7-01",
            "00-\(trace)-00f067aa0ba902b7-01-", "00-\(trace)-00f067aa0ba902b7-01-x", "00-\(trace)-00f067aa0ba902b7-1",
            "00-\(trace.uppercased())-00f067aa0ba902b7-01", "00-\(trace)-00F067AA0BA902B7-01",
            "00-\(String(repeating: "0", count: 32))-00f067aa0ba902b7-01", "00-\(trace)-0000000000000000-01",
            "00-\(trace)-00f067aa0ba902b7-0x", "cc-\(trace)-00f067aa0ba902b7-01x", "00_\(trace)-00f067aa0ba902b7-01",
            "00-\(trace.dropLast())\n-00f067aa0ba902b7-01", "00-\(trace)-00f067aa0ba902b7-01 ",
            "0g-\(trace)-00f067aa0ba902b7-01", "00-\(trace.dropLast())\u{e9}-00f067aa0ba902b-01",
        ])
    func illFormed(traceparent: String?) {
        let context = RequestContext(traceparent: traceparent)
        #expect(context.traceID == nil)
        #expect(context.metadata()["traceID"] == nil)
    }
}
