import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { domainParsers, parsers } from "./Table.js"

const server = fileURLToPath(new URL("../../src/", import.meta.url))
const domain = fileURLToPath(new URL("../../../domain/src/", import.meta.url))

/** How the calls of each parser look in the sources. */
const forms: Readonly<Record<string, RegExp>> = {
  JSON: /JSON\.parse\(|(?<![\w.])parseJson\(|Schema\.parseJson\(|parseLines\(|parseBody\(/,
  YAML: /yaml/i,
  RE2: /RE2JS\.compile|compilePattern\(/,
  RegExp: /new RegExp\(/,
  URL: /new URL\(|URL\.canParse/,
  query: /new URLSearchParams\(/,
  percent: /decodeURI(?:Component)?\(/,
  JWT: /decodeJwt\(|decodeProtectedHeader\(|compactVerify\(|jwtVerify\(/,
  JWK: /importJWK\(|importSPKI\(|createPublicKey\(/,
  PEM: /X509Certificate\(|createPrivateKey\(/,
  WebAuthn: /decodeAttestationObject\(|verifyRegistrationResponse\(|verifyAuthenticationResponse\(|decodeCBOR|isoCBOR/,
  reference: /parseReference\(/,
  "UTF-8": /new TextDecoder\(/,
  list: /\.split\((?:"[;,]"|\/)/
}

/** In the domain, also texts that are cut at another character. */
const formsOfDomain = { ...forms, list: /\.split\(/ }

/** A source without imports and comments. */
const codeOf = (path: string): string =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => !/^\s*(?:\*|\/\/|\/\*\*|import )/.test(line))
    .join("\n")

const parsersIn = (folder: string, files: Iterable<string>, forms: Readonly<Record<string, RegExp>>) =>
  Object.fromEntries(
    [...files]
      .map((file) => {
        const code = codeOf(join(folder, file))
        return [file, Object.keys(forms).filter((name) => forms[name]?.test(code) === true)] as const
      })
      .filter(([, names]) => names.length > 0)
      .map(([file, names]) => [file, names.sort()] as const)
  )

const sourcesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))

/** The modules that a source loads, as it names them. */
const loadedBy = (path: string): ReadonlyArray<string> =>
  [...readFileSync(path, "utf8").matchAll(/(?:import|export) (?!type )[^;"]*?from "([^"]+)"|import\("([^"]+)"\)/g)].map(
    ([, one, other]) => one ?? other ?? ""
  )

/** The files of the domain that the server loads, itself or through others. */
const domainOfServer = (): ReadonlySet<string> => {
  const found = new Set<string>()
  const add = (file: string): void => {
    if (found.has(file)) return
    found.add(file)
    for (const name of loadedBy(join(domain, file))) {
      if (name.startsWith(".")) add(join(dirname(file), name).replace(/\.js$/, ".ts"))
    }
  }
  const named = sourcesIn(server).flatMap((file) => loadedBy(join(server, file)))
  for (const name of named) if (name.startsWith("@coffer/domain/")) add(`${name.slice("@coffer/domain/".length)}.ts`)
  return found
}

const namesIn = (table: typeof parsers) =>
  Object.fromEntries(Object.entries(table).map(([file, some]) => [file, Object.keys(some).sort()] as const))

describe("the table of parsers", () => {
  it("has each parser of each file, with whose text it reads and how much, and no other", () => {
    const files = sourcesIn(server).filter((file) => !file.includes("migrations/"))
    assert.deepStrictEqual(parsersIn(server, files, forms), namesIn(parsers))
  })

  it("has each parser of the domain that the server loads, and no other", () => {
    const files = domainOfServer()
    assert.isAbove(files.size, 100)
    assert.deepStrictEqual(parsersIn(domain, files, formsOfDomain), namesIn(domainParsers))
  })

  it("has no text of a caller parsed on the event loop without a bound", () => {
    for (const [file, some] of [...Object.entries(parsers), ...Object.entries(domainParsers)]) {
      for (const [name, reads] of Object.entries(some)) {
        if (reads.of !== "caller" || reads.thread === "worker") continue
        assert.match(reads.length, /\d|bound/, `${name} of ${file}`)
      }
    }
  })
})
