import { Forbidden } from "@coffer/domain/errors/Errors"
import { readFileSync } from "node:fs"
import { assert, describe as suite, it } from "vitest"
import { tree } from "../src/Commands.js"
import { describe } from "../src/base/Describe.js"
import { locate } from "../src/grammar/Tree.js"
import { countProblem, readWords } from "../src/grammar/Words.js"
import { afterRefusal, type Asker, refusals } from "@coffer/domain/errors/NextSteps"

/** Each refusal of the server, as a person and as an account of the variables see it. Null: the message says enough. */
const cases: ReadonlyArray<readonly [message: string, person: string | null, account?: string | null]> = [
  [
    "this needs a rule with permission read for environment webshop/dev of organization acme",
    "ask for it with: coffer access request acme/webshop/dev read --for 1h --reason WHY",
    "an admin runs: coffer acl grant account:NAME acme/webshop/dev read"
  ],
  [
    "this needs a rule with permission read for key DB_URL of environment webshop/dev of organization acme",
    "an admin runs: coffer acl grant YOUR_EMAIL acme/webshop/dev read --key DB_URL",
    "an admin runs: coffer acl grant account:NAME acme/webshop/dev read --key DB_URL"
  ],
  [
    "this needs a rule with permission read for all keys of environment webshop/dev of organization acme, and yours are for some",
    "an admin runs: coffer acl grant YOUR_EMAIL acme/webshop/dev read",
    "an admin runs: coffer acl grant account:NAME acme/webshop/dev read"
  ],
  [
    "a rule denies read for key DB_URL of environment webshop/dev of organization acme, whatever other rules give",
    "coffer acl explain YOUR_EMAIL acme/webshop/dev --key DB_URL names the rule, which an admin can revoke",
    "coffer acl explain account:NAME acme/webshop/dev --key DB_URL names the rule, which an admin can revoke"
  ],
  [
    "this needs a rule with permission admin for project webshop of organization acme",
    "an admin runs: coffer acl grant YOUR_EMAIL 'acme/webshop/*' admin",
    "an admin runs: coffer acl grant account:NAME 'acme/webshop/*' admin"
  ],
  [
    "this needs a rule with permission admin for organization acme",
    "an admin runs: coffer acl grant YOUR_EMAIL 'acme/*/*' admin",
    "an admin runs: coffer acl grant account:NAME 'acme/*/*' admin"
  ],
  [
    "this needs at least the role developer in organization acme, whatever the rules",
    "an admin runs: coffer member set-role YOUR_EMAIL developer --org acme"
  ],
  [
    "this needs the role admin in organization acme",
    "ask an administrator of the organization; coffer member list --org acme shows who that is"
  ],
  [
    "this needs the role admin in organization acme, unless it is about yourself",
    "ask an administrator of the organization; coffer member list --org acme shows who that is"
  ],
  ["this needs the role owner in organization acme", "ask an owner of the organization"],
  [
    "this needs the role admin, or a service account without a project that has an admin rule, in organization acme",
    "ask an administrator of the organization; coffer member list --org acme shows who that is",
    "an admin runs: coffer acl grant account:NAME 'acme/*/*' admin"
  ],
  [
    "this needs the role admin in organization acme, and a service account never has a role",
    "a person has to do it: unset SERVICE_API_KEY, then run coffer login"
  ],
  ["this needs a person: a service account never decides what secrets are used for, whatever its rules", null],
  ["a service account cannot create organizations: a person has to", null],
  [
    "this service account was made with reveal: false and is never given a value",
    "an admin can make an account without --no-reveal; coffer use sends requests with a secret that it never shows"
  ],
  ["this needs a superadmin: their e-mails are in the server's settings", "ask a superadmin of the server"],
  ["only superadmins create organizations on this server: ask one of them", null],
  [
    "the delegation night job gives at most read, and this needs write",
    "its person can make another one: coffer delegate --name 'night job' --permission write"
  ],
  [
    "the delegation claude gives at most read, and this needs admin",
    "a delegation never gives more than write: its person has to do it"
  ],
  [
    "the delegation claude is for environment webshop/dev of organization acme alone",
    "its person can make one for another place: coffer delegate ORG/PROJECT/ENV --name 'claude'"
  ],
  [
    "the delegation claude was made without values and is never given one",
    "its person can make one with values: coffer delegate --name 'claude'; coffer use sends requests with a secret that it never shows"
  ],
  [
    "the delegation claude is limited to other keys",
    "its person can make another one: coffer delegate --name 'claude' --only KEY, or without --only for all keys"
  ],
  [
    "a delegation that is limited to keys never does this",
    "its person can make another one: coffer delegate --name 'NAME' --only KEY, or without --only for all keys"
  ],
  [
    "a delegation never does this: the person who made it has to",
    "its person runs the command at a terminal, where their session counts"
  ],
  [
    "another owner has to approve this export: you asked for it",
    "coffer request list names the export; the other owner runs: coffer request approve ID"
  ],
  ["only the owner who asked for an export reads it", "make one of your own with: coffer org export"],
  ["only whoever asked withdraws a request", "who may vote can end it with: coffer request refuse ID"],
  ["the protection of webshop/prod does not let you change it at once: ask for approval", null]
]

/** The command lines of a text, without the words that follow them. */
const linesIn = (text: string): ReadonlyArray<string> =>
  [
    ...text.matchAll(
      /coffer (?:[a-z]+(?:-[a-z]+)* ?)+(?:(?:--[a-z-]+|'[^']*'|[\w/*.]*[A-Z/*@][\w/*.]*|acme|webshop|dev|read|write|admin|developer|1h)(?: |$|(?=[;,])))*/g
    )
  ].flatMap(([line]) => (line.includes("--") ? [line.trim()] : []))

suite("the next step after a refusal", () => {
  it.each(cases.map(([message, person, account = person]) => ({ message, person, account })))(
    "of $message",
    ({ account, message, person }) => {
      const sentence = (asker: Asker) => describe(new Forbidden({ message }), asker).sentence
      assert.strictEqual(sentence("person"), person === null ? message : `${message}; ${person}`)
      assert.strictEqual(sentence("account"), account === null ? message : `${message}; ${account}`)
    }
  )

  it("is known for every refusal that the tests of the API record", () => {
    const answers = readFileSync(new URL("../../server/test/api/answers.txt", import.meta.url), "utf8")
    const recorded = [...answers.matchAll(/"code":"FORBIDDEN","message":"([^"]*)"/g)].map(([, message = ""]) => message)
    assert.isAbove(recorded.length, 5)
    for (const message of recorded)
      assert.isTrue(
        refusals.some(({ form }) => form.test(message)),
        message
      )
  })

  it("has a case for every row of the table", () => {
    for (const { form } of refusals) {
      const [first] = cases.filter(([message]) => refusals.find((row) => row.form.test(message))?.form === form)
      if (form.source !== "an owner") assert.isDefined(first, form.source)
    }
  })

  it("names commands and options that exist", () => {
    const texts = cases.flatMap(([message]) =>
      (["person", "account"] as const).map((asker) => afterRefusal(message, asker) ?? "")
    )
    const lines = texts.flatMap(linesIn)
    assert.isAbove(lines.length, 12)
    for (const line of lines) {
      const text = line.replace("YOUR_EMAIL", "ada@example.com")
      const words = [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare = ""]) => quoted ?? bare).slice(1)
      const found = locate(tree, words)
      if (found.type !== "command") assert.fail(`${line}: ${found.type}`)
      const reading = readWords(found.leaf, found.words)
      if (reading.type === "wrong") assert.fail(`${line}: ${reading.message}`)
      if (line.includes("--"))
        assert.isUndefined(reading.type === "words" ? countProblem(found.leaf, reading, line) : undefined, line)
    }
  })

  it("is left out for what no row knows: no administrator may decide it", () => {
    assert.strictEqual(describe(new Forbidden({ message: "this is not for you" })).sentence, "this is not for you")
  })
})
