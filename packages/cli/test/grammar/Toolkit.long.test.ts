import * as CliConfig from "@effect/cli/CliConfig"
import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import { isUserDefined } from "@effect/cli/CommandDirective"
import { isValidationError } from "@effect/cli/ValidationError"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Option, Predicate } from "effect"
import { runs } from "../../../domain/test/support/Runs.js"
import { tree } from "../../src/Commands.js"
import type { ArgumentData, OptionData } from "../../src/grammar/Data.js"
import { clientCommand } from "../../src/grammar/Toolkit.js"
import { allEnvsSpec, envSpecs } from "../../src/grammar/Place.js"
import { type Specs, syntaxOf } from "../../src/grammar/Specs.js"
import { locate } from "../../src/grammar/Tree.js"
import { countProblem, readWords } from "../../src/grammar/Words.js"
import { getSpecs } from "../../src/secrets/Get.js"
import { listSpecs } from "../../src/secrets/List.js"
import { setSpecs } from "../../src/secrets/Set.js"

/**
 * Without `run` and `render`, which start apart from the other commands and whose last words may be another command, and the word
 * `help`, which `locate` takes off.
 */
const leaves = tree.nodes
  .flatMap((node) =>
    node.type === "command"
      ? [{ path: [node.name], leaf: node }]
      : node.commands.map((leaf) => ({ path: [node.name, leaf.name], leaf }))
  )
  .filter(({ leaf }) => !["run", "render", "help"].includes(leaf.name))

const { descriptor } = clientCommand(tree.nodes)

/** The words of the command below its groups. */
const wordsIn = (parsed: unknown): unknown => {
  if (!Predicate.hasProperty(parsed, "subcommand")) {
    assert(Predicate.isRecord(parsed))
    return { type: parsed.type, options: parsed.options, arguments: parsed.arguments }
  }
  assert(Option.isOption(parsed.subcommand) && Option.isSome(parsed.subcommand))
  assert(Array.isArray(parsed.subcommand.value))
  return wordsIn(parsed.subcommand.value[1])
}

/** The options and arguments of the commands with an entry of their own: those of the place, and their own. */
const entries: ReadonlyMap<string, { readonly at: Specs; readonly own: Specs }> = new Map([
  ["secret get", { at: envSpecs, own: getSpecs }],
  ["secret set", { at: envSpecs, own: setSpecs }],
  ["secret list", { at: { ...envSpecs, allEnvs: allEnvsSpec }, own: listSpecs }]
])

const config = CliConfig.make({ isCaseSensitive: true, showBuiltIns: false })

/** Returns the words that the toolkit reads, for all commands. */
const toolkit = (path: ReadonlyArray<string>, argv: ReadonlyArray<string>) =>
  CommandDescriptor.parse(descriptor, ["coffer", ...path, ...argv], config).pipe(
    Effect.map((directive) => (isUserDefined(directive) ? wordsIn(directive.value) : "a built-in option")),
    Effect.catchIf(isValidationError, () => Effect.succeed("refused")),
    Effect.provide(NodeContext.layer)
  )

/** Without `1` and what else the toolkit takes for the value of an option that has none, if it is the next word. */
const texts = [
  ..."A KEY DATABASE_URL prod webshop webshop/prod acme acme/webshop/prod ada@example.com read member env json up".split(
    " "
  ),
  ..."2 3 20 2027-01-31 14d 64,hex 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dd0 https://example.com/hook GET bash 1,2 a=b é".split(
    " "
  ),
  "two words",
  "*"
]

const textFor = ({ choices }: OptionData | ArgumentData) =>
  choices === undefined || choices.length === 0
    ? fc.constantFrom(...texts)
    : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...choices) }, fc.constantFrom(...texts))

/**
 * An option as words: the toolkit knows no value that can be left out, which stands after `=` for us, and no `=` in an option that
 * is repeated.
 */
const optionWords = (option: OptionData) => {
  const { isRepeatable, isValueOptional, name, value } = option
  if (value === undefined) return fc.constant([`--${name}`])
  if (isValueOptional === true) return textFor(option).map((text) => [`--${name}=${text}`])
  if (isRepeatable === true) return textFor(option).map((text) => [`--${name}`, text])
  return textFor(option).chain((text) => fc.constantFrom([`--${name}`, text], [`--${name}=${text}`]))
}

const commandLines = fc.constantFrom(...leaves).chain(({ leaf, path }) => {
  const required = leaf.options.filter(({ isRequired }) => isRequired === true)
  const others = leaf.options.filter(({ isRequired }) => isRequired !== true)
  const options = fc
    .tuple(
      fc.tuple(...required.map(optionWords)),
      fc
        .subarray([...others], { maxLength: Math.min(4, others.length) })
        .chain((some) => fc.tuple(...some.map(optionWords)))
    )
    .map(([must, may]) => [...must, ...may])
  const words = fc
    .tuple(
      ...leaf.arguments.map((argument) =>
        fc.array(textFor(argument), { minLength: argument.least, maxLength: Math.min(argument.most, 3) })
      )
    )
    .map((each) => each.flat().map((word) => [word]))
  return fc
    .tuple(options, words)
    .chain(([a, b]) => fc.tuple(fc.shuffledSubarray(a, { minLength: a.length }), fc.constant(b)))
    .chain(([a, b]) => fc.boolean().map((isFirst) => (isFirst ? [...a, ...b] : [...b, ...a]).flat()))
    .map((argv) => ({ path, argv }))
})

describe("both parsers", () => {
  it.effect("find each command at its path", () =>
    Effect.sync(() => {
      for (const { leaf, path } of leaves) {
        const found = locate(
          tree,
          path.flatMap((name) => name.split(" "))
        )
        assert(found.type === "command")
        assert.strictEqual(found.leaf, leaf)
      }
    })
  )

  it.effect.prop(
    "read the same words",
    [commandLines],
    ([{ argv, path }]) =>
      Effect.gen(function* () {
        const found = locate(tree, [...path.flatMap((name) => name.split(" ")), ...argv])
        fc.pre(found.type === "command")
        assert(found.type === "command")
        const reading = readWords(found.leaf, found.words)
        // The values of options are checked before the command runs, which the toolkit leaves to it.
        fc.pre(reading.type === "words")
        assert(reading.type === "words")
        const isRefused = countProblem(found.leaf, reading, "") !== undefined
        assert.deepStrictEqual(yield* toolkit(path, argv), isRefused ? "refused" : reading)
      }),
    { fastCheck: { numRuns: runs(150) } }
  )

  it("know the same options and arguments of these commands", () => {
    for (const { leaf, path } of leaves) {
      const entry = entries.get(path.join(" "))
      if (entry === undefined) continue
      const { arguments: words, options } = syntaxOf(Object.values({ ...entry.at, ...entry.own }))
      const byName = (data: ReadonlyArray<OptionData>) => [...data].sort((a, b) => a.name.localeCompare(b.name))
      assert.deepStrictEqual(words, leaf.arguments)
      assert.deepStrictEqual(byName(options), byName(leaf.options))
    }
  })
})
