import type { ConnectionKind } from "./Connection.js"

/** The SQL of roles, in which `{{name}}`, `{{password}}`, `{{expires}}` and `{{database}}` stand for literals that the server quotes. */

export const sqlSlots = ["name", "password", "expires", "database"] as const
export type SqlSlot = (typeof sqlSlots)[number]

/** Texts in which SQL has no literals, by how they begin and end. */
const closed: ReadonlyArray<readonly [open: string, close: string]> = [
  ["'", "'"],
  ['"', '"'],
  ["`", "`"],
  ["/*", "*/"],
  ["--", "\n"]
]

type Part = { readonly text: string } | { readonly slot: SqlSlot }

const isSlot = (name: string): name is SqlSlot => sqlSlots.some((slot) => slot === name)

const dollar = /\$(?:[A-Za-z_][A-Za-z0-9_]*)?\$/y

const closeAt = (sql: string, at: number): readonly [opened: number, close: string] | null => {
  for (const [open, close] of closed) if (sql.startsWith(open, at)) return [open.length, close]
  dollar.lastIndex = at
  const [tag] = dollar.exec(sql) ?? []
  return tag === undefined ? null : [tag.length, tag]
}

/** All statements of a role are one transaction, which the server ends. */
const endsTransaction = /^\s*(?:abort|begin|commit|end|prepare\s+transaction|rollback|start\s+transaction)\b/i

/** The parts of a statement, or its problem. */
const partsOf = (sql: string): ReadonlyArray<Part> | string => {
  if (endsTransaction.test(sql)) return "begins or ends a transaction: the server does"
  const parts: Array<Part> = []
  let text = ""
  for (let at = 0; at < sql.length;) {
    const quote = closeAt(sql, at)
    if (quote !== null) {
      const [opened, close] = quote
      const end = sql.indexOf(close, at + opened)
      if (end < 0 && close !== "\n") return `has ${sql.slice(at, at + opened)} without its end`
      const whole = sql.slice(at, end < 0 ? undefined : end + close.length)
      const inside = /\{\{[^{}]{0,20}\}\}/.exec(whole)?.[0]
      if (inside !== undefined) return `has ${inside} within quotes or a comment: the server quotes it`
      text += whole
      at += whole.length
    } else if (sql.startsWith("{{", at)) {
      const end = sql.indexOf("}}", at)
      const name = end < 0 ? "" : sql.slice(at + 2, end).trim()
      if (!isSlot(name)) return "has {{ without one of {{name}}, {{password}}, {{expires}} and {{database}}"
      parts.push({ text }, { slot: name })
      text = ""
      at = end + 2
    } else if (sql[at] === ";" && sql.slice(at + 1).trim() !== "") {
      return "has more than one statement: give each by itself"
    } else {
      text += sql.charAt(at)
      at++
    }
  }
  return [...parts, { text }]
}

/** The problem with statements that must have some slots, may have some, and no others; null if there is none. */
export const sqlProblem = (
  statements: ReadonlyArray<string>,
  needed: ReadonlyArray<SqlSlot>,
  optional: ReadonlyArray<SqlSlot> = []
): string | null => {
  const found = new Set<SqlSlot>()
  for (const sql of statements) {
    const parts = partsOf(sql)
    if (typeof parts === "string") return parts
    for (const part of parts) if ("slot" in part) found.add(part.slot)
  }
  const missing = needed.find((slot) => !found.has(slot))
  if (missing !== undefined) return `no statement has {{${missing}}}`
  const other = [...found].find((slot) => !needed.includes(slot) && !optional.includes(slot))
  return other === undefined ? null : `has {{${other}}}, which is not known there`
}

/** The statement with quoted literals in its slots. Call it only with what `sqlProblem` accepts. */
export const filledSql = (sql: string, literals: Readonly<Record<SqlSlot, string>>): string => {
  const parts = partsOf(sql)
  return typeof parts === "string"
    ? sql
    : parts.map((part) => ("slot" in part ? literals[part.slot] : part.text)).join("")
}

interface Slots {
  readonly needed: ReadonlyArray<SqlSlot>
  readonly optional: ReadonlyArray<SqlSlot>
}

const none: Slots = { needed: [], optional: [] }
const ofRemoval: Slots = { needed: ["name"], optional: ["database"] }

/** The slots of each kind. MySQL has no users that end at a moment, and a program of one's own gets texts as they are. */
export const slotsOf: Readonly<Record<ConnectionKind, Readonly<Record<"create" | "revoke", Slots>>>> = {
  postgres: { create: { needed: ["name", "password", "expires"], optional: ["database"] }, revoke: ofRemoval },
  mysql: { create: { needed: ["name", "password"], optional: ["expires", "database"] }, revoke: ofRemoval },
  http: { create: none, revoke: none }
}

/** The statements of each kind of program, unless a role has its own. */
export const defaultSql = {
  postgres: {
    create: [
      "CREATE ROLE {{name}} LOGIN PASSWORD {{password}} VALID UNTIL {{expires}}",
      "GRANT USAGE ON SCHEMA public TO {{name}}",
      "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {{name}}",
      "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {{name}}"
    ],
    // A user that is not a superuser may reassign only what is of a role that it is a member of.
    revoke: [
      "GRANT {{name}} TO CURRENT_USER",
      "REASSIGN OWNED BY {{name}} TO CURRENT_USER",
      "DROP OWNED BY {{name}}",
      "DROP ROLE {{name}}"
    ]
  },
  mysql: {
    create: [
      "CREATE USER {{name}} IDENTIFIED BY {{password}}",
      "GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE, CREATE TEMPORARY TABLES ON {{database}}.* TO {{name}}"
    ],
    revoke: ["DROP USER {{name}}"]
  },
  http: { create: ["default"], revoke: ["default"] }
} as const
