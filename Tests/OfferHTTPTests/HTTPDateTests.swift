import Foundation
import OfferHTTP
import Testing

@Suite("Date header")
struct HTTPDateTests {
    @Test(
        "dates are formatted as RFC 9110 requires",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_767_225_599, "Wed, 31 Dec 2025 23:59:59 GMT"),
        ])
    func format(seconds: TimeInterval, text: String) {
        #expect(HTTPDate.format(Date(timeIntervalSince1970: seconds)) == text)
    }
}
