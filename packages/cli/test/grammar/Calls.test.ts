import { Api } from "@coffer/domain/Api"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript"
import { assert, describe, it } from "vitest"

const inBrowser = "a passkey is made and used in a browser: the command opens its page"
const byFields = "coffer sends it without the schemas of the contract, by client/internal: it starts faster"
const forMachines = "is for probes, programs and readers: coffer doctor and coffer help say the same"

/** The calls of the contract that no command makes through its client, and why. */
const withoutCommand: Readonly<Record<string, string>> = {
  "auth.federate": byFields,
  "consents.review": "a program asks for consent on a page of the console",
  "consents.create": "a person consents on a page of the console",
  "passkeys.options": inBrowser,
  "passkeys.create": inBrowser,
  "passkeys.challenge": inBrowser,
  "passkeys.verify": inBrowser,
  "secrets.get": byFields,
  "secrets.set": byFields,
  "groups.get": "coffer group members lists its members, and coffer group list says the rest",
  "groups.setMembers": "coffer group adds and removes members one by one: a directory sets all at once",
  "webhooks.get": "coffer webhook list --json has each webhook whole",
  "system.ready": forMachines,
  "system.docs": forMachines,
  "system.llms": forMachines,
  "system.llmsFull": forMachines
}

/** The calls in a file: `call("groups", (api) => api.list(…))`. */
const callsIn = (name: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const [group, using] = node.arguments
      if (group !== undefined && using !== undefined && ts.isStringLiteral(group) && ts.isArrowFunction(using)) {
        const api = using.parameters[0]?.name.getText()
        const see = (inner: ts.Node): void => {
          if (ts.isPropertyAccessExpression(inner) && inner.expression.getText() === api) {
            found.push(`${group.text}.${inner.name.text}`)
          }
          ts.forEachChild(inner, see)
        }
        see(using.body)
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(name, readFileSync(name, "utf8"), ts.ScriptTarget.Latest, true))
  return found
}

const made = new Set(
  ["cli", "client"]
    .map((name) => join(import.meta.dirname, "../../..", name, "src"))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .flatMap((name) => callsIn(join(folder, name)))
    )
)

describe("each call of the contract", () => {
  it("is made by a command, or has its reason why not", () => {
    const calls = Object.values(Api.groups).flatMap(({ endpoints, identifier }) =>
      Object.keys(endpoints).map((name) => `${identifier}.${name}`)
    )
    assert.sameMembers(
      calls.filter((call) => !made.has(call)),
      Object.keys(withoutCommand)
    )
  })
})
