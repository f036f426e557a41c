import { type Declaration, maxPatternLength, maxRequiredIn, type RequiredIn } from "@coffer/domain/secrets/DeclaredKey"
import { type Annotated, readAnnotated, type Remark } from "@coffer/domain/formats/Env"
import { BadFile, type Entry, type Mistake } from "@coffer/domain/formats/Format"
import { EnvName, SecretKey } from "@coffer/domain/base/Names"
import * as Array from "effect/Array"
import * as Either from "effect/Either"
import * as Order from "effect/Order"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { argumentsOf, type Decorator, decoratorsOf, textOf } from "./Decorators.js"
import { patternOfType } from "./Types.js"

/** The data of a key in a file. Properties that the file does not state stay as they are declared. */
export interface Read extends Partial<Declaration> {
  readonly key: SecretKey
  /** Whether the assignment is in a comment: a key that is there for those who want it. */
  readonly isCommentedOut: boolean
  /** Whether the file has a value for it. An example in a decorator is none. */
  readonly hasValue: boolean
  /** Decorators that say what a declaration cannot express, as they are written. */
  readonly unknown: ReadonlyArray<string>
}

export interface ReadFile {
  readonly keys: ReadonlyArray<Read>
  /** The value of `@defaultRequired` in the head, for keys without a decorator. */
  readonly defaultRequired: "all" | "none" | "with_value" | undefined
}

/** A line of a comment block. */
const isRuler = (text: string): boolean => /^[\s#=\-*~_+/|]*$/.test(text)

/** An assignment in a comment. A sentence has spaces that are not in quotes. */
const commentedOut = /^(?:export\s+)?([A-Z_][A-Z0-9_]*=(?:"[^"]*"|'[^']*'|[^\s"']*))$/

const textOfRemark = (text: string): string => text.replace(/^# ?/, "").trimEnd()

/** An entry, or one that is in a comment, with the comments that belong to it. */
interface Block {
  readonly entry: Entry
  readonly isCommentedOut: boolean
  readonly comments: ReadonlyArray<string>
}

const entryIn = (remark: Remark): Entry | undefined => {
  const assignment = commentedOut.exec(textOfRemark(remark.text))?.[1]
  if (assignment === undefined) return undefined
  const [entry] = Either.match(readAnnotated(assignment), { onLeft: () => [], onRight: ({ entries }) => entries })
  return entry && { ...entry, line: remark.line }
}

/** Gives each key the comments right above it, and the one behind its value. A blank line ends a block of comments. */
const blocksOf = ({ entries, remarks }: Annotated): ReadonlyArray<Block> => {
  const behind = new Map(remarks.flatMap(({ behind, text }) => (behind === undefined ? [] : [[behind, text] as const])))
  const active = new Set(entries.map(({ key }) => key))
  const items = [
    ...remarks.flatMap((remark) => {
      if (remark.behind !== undefined) return []
      const entry = entryIn(remark)
      return [entry === undefined || active.has(entry.key) ? { remark } : { entry, remark }]
    }),
    ...entries.map((entry) => ({ entry, remark: undefined }))
  ].sort((a, b) => lineOf(a) - lineOf(b))
  const blocks: Array<Block> = []
  let above: Array<string> = []
  let next = 0
  for (const item of items) {
    const line = lineOf(item)
    if (line !== next) above = []
    next = line + 1
    if (item.entry === undefined) {
      const text = textOfRemark(item.remark.text)
      // The end of the file's head.
      if (/^\s*---\s*$/.test(text)) above = []
      else above.push(text)
      continue
    }
    const last = behind.get(item.entry.key)
    const isCommentedOut = item.remark !== undefined
    const comments = last === undefined || isCommentedOut ? above : [...above, textOfRemark(last)]
    blocks.push({ entry: item.entry, isCommentedOut, comments })
    above = []
  }
  return blocks
}

const lineOf = ({
  entry,
  remark
}: { readonly entry?: Entry; readonly remark: Remark } | { readonly entry: Entry; readonly remark: undefined }) =>
  remark?.line ?? entry?.line ?? 0

const isEnvName = Schema.is(EnvName)

/** Decorators whose value is the text of the field. */
const isOwnText = Schema.is(Schema.Literal("description", "example", "owner", "pattern"))

/** Where a key is required, by `@required`, `@required=false` or `@required=forEnv(prod, staging)`; `@optional` is the opposite. */
const requiredIn = ({ name, value }: Decorator): RequiredIn | undefined => {
  const names = argumentsOf(value, "forEnv")?.map(([, text]) => text)
  if (name === "required" && names?.every(isEnvName) === true) return names.length <= maxRequiredIn ? names : undefined
  if (!["", "true", "false"].includes(value)) return undefined
  return (name === "required") === (value !== "false") ? "*" : []
}

/** Decorators that varlock has and that say nothing of what is declared. */
const passed = new Set([
  ...["deprecated", "docs", "docsUrl", "dynamic", "icon", "internal", "public", "sensitive", "static", "tag"]
])

const readDecorators = (decorators: ReadonlyArray<Decorator>) => {
  const said: { -readonly [Name in keyof Declaration]?: Declaration[Name] } = {}
  const unknown: Array<string> = []
  for (const decorator of decorators) {
    const { name, value } = decorator
    const required = name === "required" || name === "optional" ? requiredIn(decorator) : undefined
    if (required !== undefined) said.required_in = required
    else if (isOwnText(name)) said[name] = textOf(value)
    else if (name === "type") {
      const { isPartial, pattern = "" } = patternOfType(value)
      const isShort = pattern.length <= maxPatternLength
      if (pattern !== "" && isShort) said.pattern = pattern
      if (isPartial || !isShort) unknown.push(`@type=${value}`)
    } else if (name === "required" || name === "optional") unknown.push(`@${name}=${value}`)
    else if (!passed.has(name)) unknown.push(`@${name}`)
  }
  return { said, unknown }
}

const descriptionOf = (comments: ReadonlyArray<string>): string => {
  const texts = comments.map((text) => (isRuler(text) ? "" : text))
  return texts.join("\n").replace(/^\n+|\n+$/g, "")
}

const isKey = Schema.is(SecretKey)

/** The keys that are none, and those that stand twice. */
const keyMistakes = (entries: ReadonlyArray<Entry>): ReadonlyArray<Mistake> => {
  const seen = new Set<string>()
  return entries.flatMap(({ key, line }) => {
    if (!isKey(key)) return [{ line, problem: `${JSON.stringify(key)} is no key of a secret` }]
    if (seen.has(key)) return [{ line, problem: `${key} is here again; remove one` }]
    seen.add(key)
    return []
  })
}

/** Decorators of a whole file. */
const ofFile = /^(?:currentEnv|envFlag|import|plugin|(?:default|generate)[A-Z]\w*)$/

/**
 * Returns the file's default for keys without a decorator. Its head is the comments before the first key that are not
 * attached to it: they end with `---` or with a blank line. Without decorators, only `---` makes them a head.
 */
const defaultOf = ({ entries, remarks }: Annotated): ReadFile["defaultRequired"] => {
  const first = entries[0]?.line ?? Infinity
  const own = remarks.filter(({ behind, line }) => behind === undefined && line < first)
  const divider = own.findLast(({ text }) => /^#\s*---/.test(text))?.line ?? 0
  const attached = own.reduceRight((next, { line }) => (line === next - 1 && line > divider ? line : next), first)
  const head = own.filter(({ line }) => line < attached)
  const decorators = head.flatMap(({ text }) => decoratorsOf(textOfRemark(text)) ?? [])
  const hasEnd = own.some(({ text }) => /^#\s*---\s*$/.test(text))
  if (!hasEnd && !decorators.some(({ name }) => ofFile.test(name))) return undefined
  const said = decorators.find(({ name }) => name === "defaultRequired")?.value
  return said === "true" ? "all" : said === "false" ? "none" : "with_value"
}

/** Reads what a file such as `.env.example` says of keys. Its values are examples. */
export const readExample = (file: string, text: string): Either.Either<ReadFile, BadFile> => {
  const { entries, remarks, unreadable } = Either.match(readAnnotated(text), {
    onLeft: ({ entries, mistakes }) => ({ entries: Redacted.value(entries), remarks: [], unreadable: mistakes }),
    onRight: (annotated) => ({ ...annotated, unreadable: [] })
  })
  const mistakes = Array.sortWith([...unreadable, ...keyMistakes(entries)], ({ line }) => line, Order.number)
  if (Array.isNonEmptyReadonlyArray(mistakes)) return Either.left(new BadFile({ file, mistakes }))
  const annotated = { entries, remarks }
  const keys = new Map<string, Read>()
  for (const { comments, entry, isCommentedOut } of blocksOf(annotated)) {
    const { key, value } = entry
    if (!isKey(key) || keys.has(key)) continue
    const split = comments.map((comment) => ({ comment, decorators: decoratorsOf(comment) }))
    const { said, unknown } = readDecorators(split.flatMap(({ decorators = [] }) => decorators))
    const description = descriptionOf(
      split.flatMap(({ comment, decorators }) => (decorators === undefined ? [comment] : []))
    )
    keys.set(key, {
      key,
      isCommentedOut,
      hasValue: value !== "",
      unknown,
      ...(description !== "" && { description }),
      ...(value !== "" && { example: value }),
      ...said
    })
  }
  return Either.right({ keys: [...keys.values()], defaultRequired: defaultOf(annotated) })
}
