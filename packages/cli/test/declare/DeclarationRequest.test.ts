import { assert, describe, it } from "vitest"
import { looksReal } from "../../src/commands/declare/DeclarationRequest.js"

const letters = "aB3dE5gH7jK9mN1pQ4rS6tU8vW0xYz2c"

describe("a text that looks like a credential", () => {
  it.each([
    ["a token of a code host", `ghp_${letters}${letters}`, true],
    ["a key of a cloud", "AKIA2E7Q4ZPL9RXW5TBC", true],
    ["the documented key of that cloud", "AKIAIOSFODNN7EXAMPLE", false],
    ["a key of a payment provider, in a URL", `https://x.test/?key=sk_live_${letters}`, true],
    ["one of its test keys", `sk_test_${letters}`, false],
    ["a key of Coffer", `svc_sa_${letters}${letters.slice(0, 17)}`, true],
    ["a private key", `-----BEGIN RSA PRIVATE KEY-----\n${letters.repeat(4)}\n-----END`, true],
    ["the form of a private key", "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----", false],
    ["a signed token", `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.${letters}`, true],
    ["a placeholder", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", false],
    ["a password to change", "change-me", false],
    ["a URL of a database", "postgres://app:secret@localhost/shop", false]
  ])("is %s", (_name, text, expected) => {
    assert.strictEqual(looksReal(text), expected)
  })
})
