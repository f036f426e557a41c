import { intentOf } from "@coffer/server/edges/pages/Intents"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"

const own = "https://coffer.test"
const read = (parameters: Readonly<Record<string, string>>) =>
  Effect.runSync(Effect.either(intentOf(`/login?${new URLSearchParams(parameters).toString()}`)))

/** Pieces of which addresses are made that browsers read in ways of their own. */
const piece = fc.constantFrom(
  ...[
    "/",
    "//",
    "\\",
    ".",
    "..",
    "%2f",
    "%5c",
    "@",
    ":",
    "?",
    "#",
    "\t",
    "\n",
    "\r",
    " ",
    "\u0000",
    "https:",
    "javascript:"
  ],
  ...["evil.test", "coffer.test", "a", "orgs", "=", "&", "\u3002", "\ud800"]
)
const address = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""))

describe("a login that a page asks for", () => {
  it("leads to this server, however its address is written", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          address,
          address.map((text) => `/${text}`)
        ),
        fc.boolean(),
        (next, isRecent) => {
          const intent = Either.getOrThrow(read({ next, ...(isRecent && { recent: "" }) }))
          if (intent.type !== "browser") return assert.fail(intent.type)
          assert.strictEqual(intent.needsProof, isRecent)
          assert.isTrue(intent.next.startsWith("/"))
          // A browser resolves it against the page of the login, and again against the page that it leads to.
          const first = new URL(intent.next, `${own}/login`)
          assert.strictEqual(first.origin, own)
          assert.strictEqual(new URL(`${first.pathname}${first.search}${first.hash}`, own).origin, own)
          assert.isAtMost(intent.next.length, 4_000)
        }
      ),
      { numRuns: runs(20_000) }
    )
  })

  it("leads to the address itself where it is a plain address of this server", () => {
    const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/)
    const plain = fc
      .tuple(fc.array(name, { maxLength: 5 }), fc.option(name), fc.option(name))
      .map(
        ([path, search, hash]) =>
          `/${path.join("/")}${search === null ? "" : `?q=${search}`}${hash === null ? "" : `#${hash}`}`
      )
    fc.assert(
      fc.property(plain, (next) => {
        assert.deepStrictEqual(read({ next }), Either.right({ type: "browser", next, needsProof: false }))
      }),
      { numRuns: runs(1_000) }
    )
  })
})

describe("a login that a program asks for", () => {
  const base64url = Array.from("ABCXYZabcxyz0189_-")
  const sound = fc.record({
    redirect_uri: fc
      .tuple(
        fc.constantFrom("127.0.0.1", "[::1]"),
        fc.integer({ min: 1, max: 65_535 }),
        fc.stringMatching(/^[A-Za-z0-9/_-]{0,100}$/)
      )
      .map(([host, port, path]) => `http://${host}:${port}/${path}`),
    state: fc.string({ unit: fc.constantFrom(...base64url, ".", "~"), minLength: 1, maxLength: 128 }),
    code_challenge: fc.string({
      unit: fc.constantFrom(...base64url),
      minLength: 43,
      maxLength: 43
    }),
    machine: fc.option(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/), { nil: undefined })
  })
  type Sent = typeof sound extends fc.Arbitrary<infer A> ? A : never
  const parametersOf = ({ machine, ...others }: Sent) => ({
    ...others,
    code_challenge_method: "S256",
    ...(machine !== undefined && { machine })
  })

  it("has what the program sent, each at its place", () => {
    fc.assert(
      fc.property(sound, (sent) => {
        const { code_challenge, machine, redirect_uri, state } = sent
        const expected = { type: "loopback", redirect_uri, state, challenge: code_challenge, machine: machine ?? null }
        assert.deepEqual<unknown>(Either.getOrThrow(read(parametersOf(sent))), expected)
      }),
      { numRuns: runs(1_000) }
    )
  })

  it("is refused if one of its parameters is missing or wrong, and its address leads nowhere", () => {
    const wrong: Readonly<Record<string, ReadonlyArray<string | undefined>>> = {
      redirect_uri: [
        "",
        "http://localhost:1/",
        "http://127.0.0.1/",
        "http://127.0.0.1:0/",
        "http://127.0.0.1:70000/",
        "https://127.0.0.1:1/",
        "http://127.0.0.1:1",
        "http://127.0.0.1:1@evil.test/",
        "http://127.0.0.1:1/?x",
        "http://127.0.0.1:1/\r\nx",
        "http://evil.test:1/"
      ],
      state: [undefined, "", "a b", "x".repeat(129), "a\r\nb", "é"],
      code_challenge: [undefined, "", "x".repeat(42), "x".repeat(44), `${"x".repeat(42)}~`],
      code_challenge_method: [undefined, "", "plain", "s256"],
      machine: ["", " a", "-a", "x".repeat(65), "a/b", "<b>"]
    }
    const spoilt = fc
      .constantFrom(...Object.entries(wrong))
      .chain(([name, texts]) => fc.constantFrom(...texts).map((text) => [name, text] as const))
    fc.assert(
      fc.property(sound, spoilt, (sent, [name, text]) => {
        const { [name]: _, ...others }: Readonly<Record<string, string>> = parametersOf(sent)
        const found = read({ ...others, ...(text !== undefined && { [name]: text }) })
        assert.isTrue(Either.isLeft(found), `${name}: ${text}`)
      }),
      { numRuns: runs(1_000) }
    )
  })
})
