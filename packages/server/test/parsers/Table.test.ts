import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { parsers } from "./Table.js"

const folder = fileURLToPath(new URL("../../src/", import.meta.url))

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

/** A source without imports and comments. */
const codeOf = (file: string): string =>
  readFileSync(join(folder, file), "utf8")
    .split("\n")
    .filter((line) => !/^\s*(?:\*|\/\/|\/\*\*|import )/.test(line))
    .join("\n")

const found = (): Readonly<Record<string, ReadonlyArray<string>>> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.includes("migrations/"))
      .map((file) => {
        const code = codeOf(file)
        return [file, Object.keys(forms).filter((name) => forms[name]?.test(code) === true)] as const
      })
      .filter(([, names]) => names.length > 0)
  )

describe("the table of parsers", () => {
  it("has each parser of each file, with whose text it reads and how much, and no other", () => {
    const declared = Object.entries(parsers).map(([file, some]) => [file, Object.keys(some).sort()] as const)
    const actual = Object.entries(found()).map(([file, names]) => [file, [...names].sort()] as const)
    assert.deepStrictEqual(Object.fromEntries(actual), Object.fromEntries(declared))
  })

  it("has no text of a caller parsed on the event loop without a bound", () => {
    for (const [file, some] of Object.entries(parsers)) {
      for (const [name, reads] of Object.entries(some)) {
        if (reads.of !== "caller" || reads.thread === "worker") continue
        assert.match(reads.length, /\d|bound/, `${name} of ${file}`)
      }
    }
  })
})
