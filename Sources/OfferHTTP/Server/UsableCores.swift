import FoundationEssentials
import NIOCore

/// The number of cores that the process may use. Each gets one event loop. NIO's own count respects the limits of a
/// container, but not CPU affinity (`taskset`, `CPUAffinity=`).
package enum UsableCores {
    package static var count: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") } ?? ""
        let list = line.split(separator: "\t").last ?? ""
        return max(1, min(System.coreCount, count(in: list) ?? .max))
    }

    /// - Parameter list: processor numbers and ranges as the kernel writes them, such as `0-3,8`.
    /// - Returns: nil if the list is malformed.
    package static func count(in list: Substring) -> Int? {
        var count = 0
        for part in list.split(separator: ",") {
            let bounds = part.split(separator: "-").map { Int($0) }
            guard let first = bounds.first ?? nil, let last = bounds.last ?? nil, first <= last else { return nil }
            count += last - first + 1
        }
        return count > 0 ? count : nil
    }
}
