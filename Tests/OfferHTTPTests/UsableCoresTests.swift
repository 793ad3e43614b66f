import OfferHTTP
import Testing

@Suite("Usable cores")
struct UsableCoresTests {
    @Test(
        "the number of processors in the kernel's list is computed",
        arguments: [("0", 1), ("0-1", 2), ("0-3,8", 5), ("1,3,5", 3), ("", nil), ("x", nil), ("3-1", nil)]
            as [(String, Int?)])
    func count(list: String, expected: Int?) {
        #expect(UsableCores.count(in: Substring(list)) == expected)
    }
}
