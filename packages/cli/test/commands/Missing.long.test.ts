import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { things } from "../../src/grammar/Missing.js"
import { assert, beforeAll, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace()

beforeAll(async () => {
  await place.ok("secret", "set", "API_KEY", "one")
  await place.ok("secret", "set", "GONE", "one")
  await place.ok("secret", "delete", "GONE", "--yes")
  await place.ok("group", "create", "backend")
  await place.ok("service-account", "create", "deploy", "--no-key")
})

const id = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dd0"
const server = /^coffer: http:\/\/127\.0\.0\.1:\d+: /

/** The missing thing, the command line, the place where it was looked for, and the next step. */
const cases: ReadonlyArray<readonly [string, string, RegExp | string, string]> = [
  ["an organization", "project list --org acne", server, "did you mean acme? coffer org list shows what exists"],
  ["an organization unlike all", "project list --org globex", server, "; coffer org list shows what exists"],
  [
    "a project",
    "secret list --project webshpo",
    "coffer: acme: project webshpo ",
    "did you mean webshop? coffer project list --org acme shows what exists"
  ],
  [
    "an environment",
    "secret list --env canary",
    "coffer: acme/webshop: environment canary ",
    "; coffer env list acme/webshop shows what exists"
  ],
  [
    "an environment with two letters swapped",
    "secret list --env pord",
    "coffer: acme/webshop: environment pord ",
    "did you mean prod? coffer env list acme/webshop shows what exists"
  ],
  [
    "an environment nearly named so",
    "secret list --env stagin",
    "coffer: acme/webshop: environment stagin ",
    "did you mean staging? coffer env list acme/webshop shows what exists"
  ],
  ["an environment to delete", "env delete prodd --yes", "coffer: acme/webshop: ", "did you mean prod?"],
  ["an environment to compare", "env diff dev stagin", "coffer: acme/webshop: ", "did you mean staging?"],
  [
    "an environment to run in",
    "run --env prdo -- true",
    "coffer: acme/webshop: ",
    "did you mean prod? coffer env list acme/webshop"
  ],
  [
    "a secret",
    "secret get MISSING",
    "coffer: acme/webshop/dev: secret MISSING ",
    "; coffer secret list acme/webshop/dev shows what exists"
  ],
  [
    "a secret with two letters swapped",
    "secret get API_KYE",
    "coffer: acme/webshop/dev: secret API_KYE ",
    "did you mean API_KEY? coffer secret list acme/webshop/dev shows what exists"
  ],
  ["a secret in other letters", "secret versions api_key", "coffer: acme/webshop/dev: ", "did you mean API_KEY?"],
  ["a secret to delete", "secret delete API_KEYS --yes", "coffer: acme/webshop/dev: ", "did you mean API_KEY?"],
  ["a secret whose use rules are listed", "use list APIKEY", "coffer: acme/webshop/dev: ", "did you mean API_KEY?"],
  [
    "a version",
    "secret get API_KEY --at 7",
    "coffer: acme/webshop/dev: version 7 of secret API_KEY ",
    "; coffer secret versions API_KEY --env acme/webshop/dev shows what exists"
  ],
  [
    "a secret to undelete",
    "secret undelete NEVER",
    "coffer: acme/webshop/dev: secret NEVER ",
    "; coffer secret list --removed acme/webshop/dev shows what can be brought back"
  ],
  [
    "a deleted secret to destroy",
    "secret destroy GONE --versions 1 --yes",
    "coffer: acme/webshop/dev: secret GONE ",
    "; coffer secret undelete GONE --env acme/webshop/dev brings it back"
  ],
  [
    "a revision",
    "env revert --to 99 --yes",
    "coffer: acme/webshop/dev: revision 99 ",
    "; coffer env revisions acme/webshop/dev shows what exists"
  ],
  ["a declared key", "declare rm NOPE --yes", "coffer: acme/webshop: key NOPE ", "; coffer declare list acme/webshop"],
  [
    "a member",
    "acl grant --email grace@example.com --project-pattern * --env-pattern * --permission read",
    "coffer: acme: grace@example.com ",
    "; coffer member list --org acme"
  ],
  ["an access rule", `acl revoke ${id} --yes`, "coffer: acme: access rule ", "; coffer acl list --org acme"],
  ["a group", "group members nope", "coffer: acme: group nope ", "; coffer group list --org acme"],
  [
    "a group nearly named so",
    "group members backnd",
    "coffer: acme: group backnd ",
    "did you mean backend? coffer group"
  ],
  [
    "a member nearly named so",
    "acl grant --email adda@example.com --project-pattern * --env-pattern * --permission read",
    "coffer: acme: adda@example.com ",
    "did you mean ada@example.com? coffer member list --org acme"
  ],
  [
    "a service account nearly named so",
    "service-account rotate deplyo",
    "coffer: there is no service account deplyo in acme",
    "; did you mean deploy? coffer service-account list"
  ],
  [
    "a member to demote",
    "member set-role ad@example.com admin",
    "coffer: ad@example.com is not a member of acme",
    "; did you mean ada@example.com? coffer member list"
  ],
  [
    "a federation",
    "service-account trust revoke deploy gihub --yes",
    "coffer: service account deploy has no federation gihub",
    "; coffer service-account trust list"
  ],
  ["a webhook", `webhook deliveries ${id}`, "coffer: acme: webhook ", "; coffer webhook list --org acme"],
  ["an approval", `approval approve ${id}`, "coffer: acme: approval ", "; coffer request list --org acme"],
  [
    "a use rule to change",
    `use edit API_KEY ${id} --never-ends`,
    "coffer: acme/webshop/dev: use rule ",
    "; coffer use list KEY --env acme/webshop/dev"
  ],
  [
    "a use rule",
    `use revoke API_KEY ${id} --yes`,
    "coffer: acme/webshop/dev: use rule ",
    "; coffer use list KEY --env acme/webshop/dev"
  ],
  ["a session", `session end ${id}`, server, "; coffer session list"],
  [
    "a connection",
    "connection test nope",
    "coffer: acme/webshop/dev: connection nope ",
    "; coffer connection list acme"
  ],
  ["a rotation", "rotation run nope", "coffer: acme/webshop/dev: rotation nope ", "; coffer rotation list acme/"],
  ["a role", "lease create nope", "coffer: acme/webshop/dev: role nope ", "; coffer role list acme/webshop/dev"],
  ["a target", "push nope --plan", "coffer: acme/webshop/dev: target nope ", "; coffer target list acme/webshop/dev"]
]

/** No command of the client lists these, or a caller never names them. */
const unlisted = ["import", "export", "delegation", "the environment of request", "a membership of yours"]

const sources = fileURLToPath(new URL("../../../server/src", import.meta.url))

/** The beginnings of the messages with which the server says that something does not exist. */
const missingThings = readdirSync(sources, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .flatMap((file) => [...readFileSync(join(sources, file), "utf8").matchAll(/\bnotFound\(\s*`([^`]+)`/g)])
  .map(([, words = ""]) => words)

describe("what is missing", () => {
  it("has a next step, whatever it is", () => {
    const kinds = ["organization", "project", "environment"]
    const said = missingThings.flatMap((words) =>
      words.startsWith("removed ${")
        ? kinds.map((kind) => `removed ${kind} x`)
        : [words.replace(/\$\{[^}]+\}/g, "x@y.z")]
    )
    assert.isAbove(said.length, 30)
    assert.deepStrictEqual(
      said
        .map((words) => `${words} does not exist`)
        .filter((message) => !unlisted.some((words) => message.startsWith(`${words} `)))
        .filter((message) => !things.some(({ form }) => form.test(message))),
      []
    )
  })

  it.each(cases)("has its place and the next step that fits: %s", async (_, line, where, next) => {
    const { code, stderr } = await place.home.coffer(line.split(" "))
    assert.strictEqual(code, line.startsWith("run") ? 125 : 4, stderr)
    if (typeof where === "string") assert.isTrue(stderr.startsWith(where), stderr)
    else assert.match(stderr, where)
    assert.include(stderr, next)
    assert.strictEqual(stderr.split("\n").length, 2, stderr)
  })

  it("names the server in the next step if the command line does", async () => {
    const { stderr } = await place.home.coffer(["secret", "get", "MISSING", "--server-url", place.server.url])
    assert.include(stderr, `coffer secret list acme/webshop/dev --server-url ${place.server.url}`)
  })

  it("leads to a command that works", async () => {
    const { stderr } = await place.home.coffer(["secret", "get", "MISSING"])
    const [, command = ""] = /coffer (secret list .*) shows/.exec(stderr) ?? []
    assert.include(await place.prints(...command.split(" ")), "API_KEY")
  })
})
