import FoundationEssentials
import Glibc

/// Resource usage of this process, from `/proc` (proc(5)).
struct ProcessFigures {
    let cpuSeconds: Double
    let residentBytes: Double
    /// The start time of the process, in Unix time.
    let start: Double
    let openDescriptors: Int
    /// nil if there is no limit.
    let maximumDescriptors: Int?

    /// - Returns: nil if there is no `/proc`.
    init?() {
        // The program's name is in parentheses and may contain any character. The numbers begin after it.
        guard let stat = Self.text("/proc/self/stat"), let end = stat.lastIndex(of: ")"),
            let boot = Self.value(of: "btime", in: "/proc/stat"),
            let limit = Self.value(of: "Max open files", in: "/proc/self/limits"),
            let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        else { return nil }
        // The first of these fields has number 3 in proc(5).
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        func field(_ number: Int) -> Double? { fields.count > number - 3 ? Double(fields[number - 3]) : nil }
        guard let user = field(14), let system = field(15), let began = field(22), let pages = field(24)
        else { return nil }
        let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
        cpuSeconds = (user + system) / ticksPerSecond
        residentBytes = pages * Double(sysconf(Int32(_SC_PAGESIZE)))
        start = boot + began / ticksPerSecond
        openDescriptors = descriptors.count - 1  // minus the one used to list them
        maximumDescriptors = Int(exactly: limit)
    }

    private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    /// Returns the value on the line that begins with `name`; infinity if it is not a number.
    private static func value(of name: String, in path: String) -> Double? {
        let line = text(path)?.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.dropFirst(name.count).split(separator: " ").first.map { Double($0) ?? .infinity }
    }
}
