// A stand-in for the few parts of SwiftUI that Examples/Paywall uses. Only Linux builds it, and only to type-check the example: it
// shows nothing. Declarations are shorter than Apple's (https://developer.apple.com/documentation/swiftui) but accept the same calls.

/// https://developer.apple.com/documentation/swiftui/view
@MainActor public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension Never: View {
    public var body: Never { return fatalError("nothing to show") }
}

/// https://developer.apple.com/documentation/swiftui/viewbuilder
@MainActor @resultBuilder public enum ViewBuilder {
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> Shown { Shown() }
    public static func buildEither(first: Shown) -> Shown { Shown() }
    public static func buildEither(second: Shown) -> Shown { Shown() }
    public static func buildOptional(_ content: Shown?) -> Shown { Shown() }
}

/// Ours: what every view becomes.
public struct Shown: View {
    public var body: Never { return fatalError("nothing to show") }
}

/// https://developer.apple.com/documentation/swiftui/text
public struct Text: View {
    public init(_ text: String) {}
    public var body: Never { return fatalError("nothing to show") }
}

/// https://developer.apple.com/documentation/swiftui/progressview
public struct ProgressView: View {
    public init() {}
    public var body: Never { return fatalError("nothing to show") }
}

/// https://developer.apple.com/documentation/swiftui/vstack
public struct VStack: View {
    public init(@ViewBuilder content: () -> some View) {}
    public var body: Never { return fatalError("nothing to show") }
}

/// https://developer.apple.com/documentation/swiftui/list
public struct List: View {
    public init<Items: RandomAccessCollection>(_ items: Items, @ViewBuilder row: (Items.Element) -> some View)
    where Items.Element: Identifiable {}
    public var body: Never { return fatalError("nothing to show") }
}

/// https://developer.apple.com/documentation/swiftui/button
public struct Button: View {
    public init(_ title: String, action: @escaping @MainActor () -> Void) {}
    public var body: Never { return fatalError("nothing to show") }
}

extension View {
    /// https://developer.apple.com/documentation/swiftui/view/task(priority:_:)
    public func task(_ action: @escaping @Sendable @MainActor () async -> Void) -> some View { Shown() }
    /// https://developer.apple.com/documentation/swiftui/view/disabled(_:)
    public func disabled(_ isDisabled: Bool) -> some View { Shown() }
}

/// https://developer.apple.com/documentation/swiftui/state
@propertyWrapper public struct State<Value> {
    public var wrappedValue: Value
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

/// https://developer.apple.com/documentation/swiftui/scene
@MainActor public protocol Scene {}

/// https://developer.apple.com/documentation/swiftui/windowgroup
public struct WindowGroup: Scene {
    public init(@ViewBuilder content: () -> some View) {}
}

/// https://developer.apple.com/documentation/swiftui/app
@MainActor public protocol App {
    associatedtype Body: Scene
    var body: Body { get }
    init()
}

extension App {
    public static func main() {}
}
