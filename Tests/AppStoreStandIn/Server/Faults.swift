import NIOConcurrencyHelpers

/// What goes wrong with a request to the stand-in.
package enum Fault: Hashable, Sendable {
    /// Answers as usual, after some milliseconds.
    case delay(Int)
    /// An error of Apple's with this code.
    case error(Int64)
    /// Another HTTP status, with no error code.
    case status(Int)
    /// 429, with a `Retry-After` so many milliseconds from now.
    case limited(Int)
    /// Half of the answer, then the end of the connection.
    case half
    /// The end of the connection.
    case reset
    /// An answer of so many bytes.
    case large(Int)
    /// An answer that is not JSON.
    case malformed
    /// An answer in which what is signed is of another app.
    case anotherApp
    /// No answer at all.
    case silence
    /// 401 with a `Date` so many seconds from now.
    case clock(Int)
}

/// The faults to come, first come first served.
package final class Faults: Sendable {
    private struct Planned {
        let fault: Fault
        let endpoint: String?
        var count: Int
    }

    private let planned = NIOLockedValueBox<[Planned]>([])

    /// - Parameters:
    ///   - count: how many requests it happens to.
    ///   - endpoint: as ``Statistics`` names it; nil for all.
    package func add(_ fault: Fault, count: Int = 1, endpoint: String? = nil) {
        planned.withLockedValue { $0.append(Planned(fault: fault, endpoint: endpoint, count: count)) }
    }

    package func clear() { planned.withLockedValue { $0 = [] } }

    func take(_ endpoint: String) -> Fault? {
        planned.withLockedValue { planned in
            guard let place = planned.firstIndex(where: { $0.endpoint == nil || $0.endpoint == endpoint }) else {
                return nil
            }
            planned[place].count -= 1
            defer { if planned[place].count <= 0 { planned.remove(at: place) } }
            return planned[place].fault
        }
    }
}
