import type { CliApp } from "@effect/cli/CliApp"
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import { isUserDefined } from "@effect/cli/CommandDirective"
import type { ValidationError } from "@effect/cli/ValidationError"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import type { Failure } from "../base/Failures.js"
import type { Group, Leaf, Needs } from "./Command.js"

export const parserConfig = CliConfig.make({ isCaseSensitive: true, showBuiltIns: false })

const groupCommand = ({ commands, name }: Group) =>
  Command.withSubcommands(
    Command.make(name),
    Array.map(commands, (leaf) => leaf.make())
  )

/** Makes the toolkit's command of the client with these commands and groups. */
export const clientCommand = (nodes: Array.NonEmptyReadonlyArray<Group | Leaf>) =>
  Command.withSubcommands(
    Command.make("coffer"),
    Array.map(nodes, (node) => (node.type === "group" ? groupCommand(node) : node.make()))
  )

/**
 * Decodes the words of a command line and runs its command. Only the branch of the command is made: the parsers of all
 * commands would slow down each start.
 *
 * @param group of the command, if it has one
 * @param words after the name of the command, as `markWords` returns them
 */
export const runWords = (
  group: Group | undefined,
  leaf: Leaf,
  words: ReadonlyArray<string>
): Effect.Effect<void, Failure | ValidationError, Needs | CliApp.Environment> =>
  Effect.suspend(() => {
    const command = clientCommand([group === undefined ? leaf : { ...group, commands: [leaf] }])
    const path = group === undefined ? [leaf.name] : [group.name, leaf.name]
    return Effect.flatMap(
      CommandDescriptor.parse(command.descriptor, ["coffer", ...path, ...words], parserConfig),
      (directive) => (isUserDefined(directive) ? command.handler(directive.value) : Effect.void)
    )
  })
