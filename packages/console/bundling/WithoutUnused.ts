import type { Plugin } from "vite"
import { type Cut, isNode, listOf, nameOf, withCuts } from "./Syntax.js"

const effect = (name: string) => `/effect/dist/esm/${name}.js`

const yaml = (name: string) => `/yaml/browser/dist/${name}.js`

/** The code of exports that are called nevertheless, by their names. */
type Kept = Readonly<Record<string, string>>

const uncounted = "() => ({ unsafeUpdate: () => {} })"

/**
 * Parts of libraries that every program carries and the console never uses, by the end of their path: the runtime of Effect
 * counts fibers, reads configuration from the environment, batches requests and runs Micro; the reader of YAML can also write.
 */
const unused: Readonly<Record<string, Kept>> = {
  [effect("Micro")]: {},
  [effect("internal/blockedRequests")]: {},
  [effect("internal/configProvider")]: {
    configProviderTag: '{ key: "effect/ConfigProvider" }',
    fromEnv: "() => ({})"
  },
  [effect("internal/random")]: {
    make: "() => ({ nextRange: (min, max) => core.sync(() => min + Math.random() * (max - min)) })",
    randomTag: '{ key: "effect/Random" }'
  },
  [effect("internal/schema/errors")]: {},
  [effect("internal/metric")]: { counter: uncounted, histogram: uncounted, tagged: uncounted },
  [effect("internal/metric/boundaries")]: { exponential: "() => {}" },
  [yaml("visit")]: {},
  [yaml("doc/anchors")]: {},
  [yaml("doc/applyReviver")]: {},
  [yaml("doc/createNode")]: {}
}

/** The code of functions and constants that the console never uses, or that do nothing in it, in modules that it does use. */
const functions: Readonly<Record<string, Kept>> = {
  // No scope closes in parallel, no fiber logs, and `Effect.all` fails at once.
  [effect("internal/fiberRuntime")]: {
    allEither: "() => {}",
    allValidate: "() => {}",
    currentLoggers: "core.fiberRefUnsafeMakeHashSet(HashSet.make())",
    finalizersMaskInternal: "() => (self) => self(identity)"
  },
  // No span is traced.
  [effect("internal/cause")]: { prettyErrorStack: "(_, stack) => stack" },
  // Messages of the toolkit are shown to nobody.
  [effect("ParseResult")]: { getDefaultTypeMessage: '{ return "" }' },
  // No schema is a template.
  [effect("SchemaAST")]: { getTemplateLiteralRegExp: "() => { throw new Error() }" },
  // All optional fields of the contract are exact, without defaults.
  [effect("Schema")]: {
    optionalPropertySignatureAST:
      '(self, { exact }) => { if (exact !== true) throw new Error("not exact"); return new PropertySignatureDeclaration(self.ast, true, true, {}, undefined) }'
  }
}

const exported = /^export (?:const|class|function) (\w+)|^export \{ (.+) \};?$/gm

const namesIn = (code: string): ReadonlySet<string> =>
  new Set([...code.matchAll(exported)].flatMap(([, name, names]) => name ?? names?.split(", ") ?? []))

/** Whether the module of a path is replaced, and which of its exports are called nevertheless. */
const keptOf = (id: string): Kept | undefined => {
  if (/\/yaml\/browser\/dist\/stringify\/\w+\.js$/.test(id)) return {}
  return Object.entries(unused).find(([end]) => id.endsWith(end))?.[1]
}

/** The parser of dotenv, without what reads files and sets variables. Two functions of its bundle, which exports many. */
const dotenvParser = (code: string): string => {
  const [, lines] = /\bG=(\/\(\?:\^\|\^\).+?\/mg),/.exec(code) ?? []
  const [parse] = /function H\(e\)\{let n=\{\}.+?return n\}/s.exec(code) ?? []
  if (lines === undefined || parse === undefined) throw new Error("the bundle of dotenv has another parser")
  return `const G = ${lines}\n${parse}\nexport { H as parse }`
}

/** The toolkit's own error of a request that is not valid, which no server of ours sends: its issues are read by nobody. */
const withoutIssues = (code: string): string => {
  const short = code.replace("Schema.ArrayFormatterIssue.annotations(", "Schema.Unknown.annotations(")
  if (short === code) throw new Error("the toolkit's error has other issues")
  return short
}

const small = (code: string, id: string, kept: Kept): string => {
  const names = namesIn(code)
  const absent = Object.keys(kept).find((name) => !names.has(name))
  if (names.size === 0 || absent !== undefined) throw new Error(`${id} has no ${absent ?? "exports"} any more`)
  const refused = `() => { throw new Error("the build of the console left ${id.replace(/.*node_modules\//, "")} out") }`
  const lines = [...names].map((name) => `export const ${name} = ${kept[name] ?? refused}`)
  const imports = code.split("\n").filter((line) => line === 'import * as core from "./core.js";')
  return [...imports, ...lines].join("\n")
}

/** Replaces the values of a module's constants, and the bodies of its functions. */
const replaceValues = (code: string, body: unknown, kept: Kept): string => {
  const cutsOf = (name: unknown, value: unknown): ReadonlyArray<Cut> => {
    const replacement = kept[nameOf(name)]
    return isNode(value) && replacement !== undefined ? [{ start: value.start, end: value.end, replacement }] : []
  }
  const cuts = listOf(body).flatMap((statement): ReadonlyArray<Cut> => {
    const declaration = isNode(statement) ? (statement["declaration"] ?? statement) : undefined
    if (!isNode(declaration)) return []
    if (declaration.type === "FunctionDeclaration") return cutsOf(declaration["id"], declaration["body"])
    return listOf(declaration["declarations"]).flatMap((one) => (isNode(one) ? cutsOf(one["id"], one["init"]) : []))
  })
  if (cuts.length !== Object.keys(kept).length) throw new Error("a function that the build replaces has gone")
  return withCuts(code, cuts)
}

/** Puts small modules in place of the parts that the console never uses. Their exports throw, so that a mistake is seen. */
export const withoutUnused: Plugin = {
  name: "without-unused",
  transform(code, id) {
    if (id.endsWith("/platform/dist/esm/HttpApiError.js")) return { code: withoutIssues(code), map: null }
    if (id.endsWith("/dotenv/dist/index.cjs")) return { code: dotenvParser(code), map: null }
    const replaced = Object.entries(functions).find(([end]) => id.endsWith(end))?.[1]
    if (replaced !== undefined) return { code: replaceValues(code, this.parse(code).body, replaced), map: null }
    const kept = keptOf(id)
    return kept === undefined ? null : { code: small(code, id, kept), map: null }
  }
}
