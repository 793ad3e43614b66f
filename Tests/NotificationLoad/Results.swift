/// What became of the notifications of a run.
struct Results: Sendable {
    var sent = 0
    var elapsed = Duration.zero
    private var statuses: [Int: Int] = [:]
    /// Notifications without a response.
    private var lost = 0
    private var loss: String?
    /// In microseconds.
    private var latencies: [UInt32] = []

    mutating func note(_ status: Int, after latency: Duration) {
        statuses[status, default: 0] += 1
        latencies.append(UInt32(clamping: Int64(latency / .microseconds(1))))
    }

    mutating func noteLoss(_ reason: String) {
        lost += 1
        loss = loss ?? reason
    }

    mutating func add(_ other: Results) {
        sent += other.sent
        statuses.merge(other.statuses) { $0 + $1 }
        lost += other.lost
        loss = loss ?? other.loss
        latencies += other.latencies
    }

    /// One line.
    var json: String {
        let sorted = latencies.sorted()
        func milliseconds(_ share: Double) -> String {
            guard !sorted.isEmpty else { return "null" }
            let microseconds = Int(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))])
            let fraction = "\(microseconds % 1000)"
            return "\(microseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
        }
        let acknowledged = statuses[200] ?? 0
        let refused = statuses.filter { $0.key != 200 }.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        let seconds = elapsed / .seconds(1)
        let reason = loss.map { #","lossReason":"\#($0.filter { $0 != "\"" && $0 != "\\" && !$0.isNewline })""# } ?? ""
        return #"{"sent":\#(sent),"acknowledged":\#(acknowledged),"refused":{\#(refused.joined(separator: ","))},"#
            + #""lost":\#(lost)\#(reason),"seconds":\#(seconds),"perSecond":\#(Double(acknowledged) / seconds),"#
            + #""latencyMilliseconds":{"p50":\#(milliseconds(0.5)),"p99":\#(milliseconds(0.99)),"max":\#(milliseconds(1))}}"#
    }
}
