/// The sums of whole numbers and of their squares. They are exact, so the order of the numbers makes no difference.
struct ExactSums: Sendable {
    private(set) var count = 0
    private var sum: Int128 = 0
    private var squares: Int128 = 0

    mutating func add(_ number: Int64) {
        count += 1
        sum += Int128(number)
        squares += Int128(number) * Int128(number)
    }

    static func += (left: inout Self, right: Self) {
        left.count += right.count
        left.sum += right.sum
        left.squares += right.squares
    }

    var moments: SampleMoments {
        guard count > 0 else { return SampleMoments(count: 0, mean: 0, variance: 0) }
        // Numbers of at most 1e12 leave room for 1e7 of them.
        let spread = Double(Int128(count) * squares - sum * sum)
        let pairs = Double(count) * Double(count - 1)
        return SampleMoments(
            count: count, mean: Double(sum) / Double(count), variance: count > 1 ? spread / pairs : 0)
    }
}
