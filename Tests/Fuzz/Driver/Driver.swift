import FuzzTargets
import Glibc

// The function that libFuzzer calls: https://llvm.org/docs/LibFuzzer.html. Its own flags start with one hyphen; it
// ignores flags that start with two.

/// The target named by `--target=`.
private let target: FuzzTarget = {
    let name = CommandLine.arguments.compactMap { argument in
        argument.hasPrefix("--target=") ? String(argument.dropFirst("--target=".count)) : nil
    }.last
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        fatalError(
            "missing or unknown target; use \(FuzzTarget.all.map { "--target=\($0.name)" }.joined(separator: " or "))")
    }
    return target
}()

@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    do { try target.run(input) } catch { fatalError("\(target.name): \(error.promise)") }
    return 0
}
