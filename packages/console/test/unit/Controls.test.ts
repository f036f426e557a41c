import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import { assert, describe, it } from "vitest"
import { changingCalls, consoleKinds } from "../../../domain/test/support/ChangingCalls.js"
import { isEnding, mutating } from "../support/Endpoints.js"

const source = fileURLToPath(new URL("../../src/", import.meta.url))

/** The handlers that a control calls when a person chooses something, or types. */
const attributes = new Set(["onChange", "choose", "onInput", "onSelect", "changed"])

const parse = (name: string, text: string) => ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)

/** The functions of a file by their names. */
const functionsOf = (file: ts.SourceFile): ReadonlyMap<string, ts.Node> => {
  const found = new Map<string, ts.Node>()
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined) {
      found.set(node.name.text, node.initializer)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

/** The changes among the calls of the contract begin so in the console. */
const reads =
  /^(list|get|show|find|me|matrix|explain|access|activity|versions|deliveries|mappings|members|references|who)$/

/** Checks whether a control's code, with all functions of its file that it uses, calls the contract to write. */
const writesIn = (node: ts.Node, functions: ReadonlyMap<string, ts.Node>, seen = new Set<string>()): boolean => {
  let found = false
  const visit = (one: ts.Node): void => {
    if (
      ts.isCallExpression(one) &&
      ts.isPropertyAccessExpression(one.expression) &&
      one.expression.expression.getText() === "api" &&
      !reads.test(one.expression.name.text) &&
      !one.getText().includes("dry_run: true")
    ) {
      found = true
    }
    if (ts.isIdentifier(one) && !seen.has(one.text)) {
      const target = functions.get(one.text)
      if (target !== undefined && (ts.isArrowFunction(target) || ts.isCallExpression(target))) {
        seen.add(one.text)
        visit(target)
      }
    }
    ts.forEachChild(one, visit)
  }
  visit(node)
  return found
}

const writingControls = (name: string, text: string): ReadonlyArray<string> => {
  const file = parse(name, text)
  const functions = functionsOf(file)
  const found: Array<string> = []
  const visit = (node: ts.Node): void => {
    if (ts.isJsxAttribute(node) && attributes.has(node.name.getText()) && node.initializer !== undefined) {
      const element = node.parent.parent
      const tag = ts.isJsxOpeningLikeElement(element) ? element.tagName.getText() : ""
      // A component that has written tells the page by `changed`: that is no control.
      const isControl = node.name.getText() !== "changed" || tag === "ValueField"
      if (isControl && writesIn(node.initializer, functions)) {
        found.push(`${name}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`)
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

/** The calls of the contract that a file makes: `call("groups", (api) => api.remove(…))`. */
const callsIn = (name: string, text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const visit = (node: ts.Node, group: string | undefined): void => {
    let inside = group
    if (ts.isCallExpression(node)) {
      const [first] = node.arguments
      if (/^(call|plainCall)$/.test(node.expression.getText()) && first !== undefined && ts.isStringLiteral(first)) {
        inside = first.text
      }
      const { expression } = node
      if (ts.isPropertyAccessExpression(expression) && expression.expression.getText() === "api") {
        found.push(`${inside ?? "nowhere"}.${expression.name.text}`)
      }
    }
    ts.forEachChild(node, (child) => {
      visit(child, inside)
    })
  }
  visit(parse(name, text), undefined)
  return found
}

describe("the calls that change something", () => {
  const names = readdirSync(source, { encoding: "utf8", recursive: true }).filter((name) => /\.tsx?$/.test(name))
  const made = new Set(names.flatMap((name) => callsIn(name, readFileSync(source + name, "utf8"))))

  it("have a row each, which says how the console makes them", () => {
    assert.deepStrictEqual(
      [...new Set(changingCalls.map(({ call }) => call))].sort(),
      mutating.map(({ call }) => call).sort()
    )
    assert.strictEqual(new Set(changingCalls.map(({ name }) => name)).size, changingCalls.length)
    for (const { by, kind, name } of changingCalls) {
      assert.include([...consoleKinds], kind, name)
      assert.strictEqual(by !== undefined, kind === "undone", name)
      if (by !== undefined)
        assert.isTrue(
          mutating.some(({ call }) => call === by),
          `${name} is undone by ${by}`
        )
    }
  })

  it("ask, or can be taken back, if they end something", () => {
    const ending = mutating.filter(isEnding)
    assert.isAbove(ending.length, 30)
    for (const { call } of ending) {
      for (const { kind, name } of changingCalls.filter((row) => row.call === call)) {
        assert.include(["absent", "asks", "undone"], kind, name)
      }
    }
    for (const { call, kind } of changingCalls.filter((row) => row.kind === "decides")) {
      assert.strictEqual(mutating.find((one) => one.call === call)?.recentLogin, "always", `${call} ${kind}`)
    }
  })

  it("are made by the console, except those whose row says that they are absent", () => {
    assert.isFalse([...made].some((call) => call.startsWith("nowhere.")))
    for (const { call, kind } of changingCalls) assert.strictEqual(made.has(call), kind !== "absent", call)
  })

  it("would be found in a condition too", () => {
    const text = 'const A = call("acl", (api) => isOne ? api.grant({ path }) : api.revoke({ path }))'
    assert.deepStrictEqual(callsIn("condition.ts", text), ["acl.grant", "acl.revoke"])
  })
})

describe("the controls of the console", () => {
  it("write nothing when a person chooses or types: a button does that", () => {
    const files = readdirSync(source, { encoding: "utf8", recursive: true }).filter((name) => name.endsWith(".tsx"))
    assert.isAbove(files.length, 100)
    assert.deepStrictEqual(
      files.flatMap((name) => writingControls(name, readFileSync(source + name, "utf8"))),
      []
    )
  })

  it("would be found if one wrote, in place or by a function", () => {
    const direct = 'const A = () => <Check choose={() => { act.run(call("x", (api) => api.update({})), done) }} />'
    const named =
      'const A = () => { const save = () => call("x", (api) => api.setRole({})); return <Choose choose={save} /> }'
    assert.lengthOf(writingControls("direct.tsx", direct), 1)
    assert.lengthOf(writingControls("named.tsx", named), 1)
  })
})
