import ArgumentParser
import Foundation
import OfferConfiguration

/// Prints documentation from the declarations of settings and commands. scripts/reference and scripts/package use it.
struct ReferenceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reference", abstract: "Print documentation from the declarations of settings and commands.",
        shouldDisplay: false)

    enum Part: String, ExpressibleByArgument {
        case settings
        case manual
    }

    @Argument(
        help: "settings: sections of docs/configuration.md. manual: the man page, from its template on standard input.")
    var part: Part

    func run() throws {
        switch part {
        case .settings: print(Settings.groups.map(\.markdown).joined(separator: "\n"), terminator: "")
        case .manual:
            let template = String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
            let root = try JSONDecoder().decode(Tool.self, from: Data(OfferSignerCommand._dumpHelp().utf8)).command
            let commands = root.leaves(under: nil)
            print(
                template.replacing("@COMMANDS@\n", with: commands.map(\.purpose).joined())
                    .replacing("@OPTIONS@\n", with: commands.map(\.options).joined())
                    .replacing("@ENVIRONMENT@\n", with: Settings.groups.map(\.manual).joined()),
                terminator: "")
        }
    }
}

/// The commands and their options, as ArgumentParser encodes them.
private struct Tool: Decodable {
    let command: Command

    struct Command: Decodable {
        let commandName: String
        let shouldDisplay: Bool
        let abstract: String?
        let subcommands: [Command]?
        let arguments: [Argument]?
    }

    struct Argument: Decodable {
        let kind: String
        let names: [Name]?
        let valueName: String?
        let abstract: String?
    }

    struct Name: Decodable {
        let kind: String
        let name: String
    }
}

/// A command without subcommands.
private struct LeafCommand {
    let name: String
    let command: Tool.Command

    /// The command as a list item, in mdoc.
    var purpose: String { ".It Cm \(name)\n\(Manual.text(command.abstract ?? ""))\n" }

    /// The subsection about the options that are not settings, in mdoc; empty if there are none.
    var options: String {
        let flags = Set(Settings.all.compactMap(\.flag)).union(["help", "version"])
        let own = (command.arguments ?? []).filter { argument in
            !(argument.names ?? []).contains { flags.contains($0.name) }
        }
        guard !own.isEmpty else { return "" }
        return ".Ss \(name)\n.Bl -tag -width Ds\n" + own.map(\.item).joined() + ".El\n"
    }
}

extension Tool.Command {
    fileprivate func leaves(under parent: String?) -> [LeafCommand] {
        (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }.flatMap { command in
            let name = (parent.map { $0 + " " } ?? "") + command.commandName
            return command.subcommands?.isEmpty == false
                ? command.leaves(under: name) : [LeafCommand(name: name, command: command)]
        }
    }
}

extension Tool.Argument {
    fileprivate var item: String {
        let value = kind == "flag" ? "" : " Ar \(valueName ?? "value")"
        let names = (names ?? []).map { "Fl \($0.kind == "short" ? "" : "-")\($0.name)\(value)" }
        let heading = kind == "positional" ? "Ar \(valueName ?? "value")" : names.joined(separator: " , ")
        return ".It \(heading)\n\(Manual.text(abstract ?? ""))\n"
    }
}
