import { mayTake, sharedBounds } from "@coffer/server/base/SharedBounds"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { runs } from "../../../domain/test/support/Runs.js"

const source = fileURLToPath(new URL("../../src", import.meta.url))
const page = fileURLToPath(new URL("../../../../docs/internals/architecture.md", import.meta.url))

const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({ path, text: readFileSync(join(source, path), "utf8") }))

/** Matches the constructions of bounds that callers can use up, with their argument. */
const constructions =
  /\b(makeFairSemaphore|makeMemoryBudget|makeShare|makeSemaphore|unsafeMakeSemaphore|Queue\.(?:bounded|dropping|sliding)|Mailbox\.make|Pool\.make\w*|new pg\.Pool|new Worker)(?:<[^(]*>)?\(\s*([^)]*)/g

/** Constructions that are not made from the table, with the reason. */
const others: Readonly<Record<string, string>> = {
  "audit/AuditLog.ts makeSemaphore": "the server's own appends, one after another",
  "base/files/Thread.ts new Worker": "one for each job of an operator",
  "base/mail/SmtpSender.ts makeShare": "the bound of the kind of mail, which Mailer takes from the table",
  "base/mail/SmtpSender.ts Mailbox.make": "bounded by the share beside it",
  "base/tracing/Otlp.ts makeSemaphore": "the server's own traces",
  "database/postgres/Pool.ts new pg.Pool": "bounded by the semaphore in front of it",
  "database/sqlite/Erasure.ts makeSemaphore": "one erasure for all that wait",
  "database/sqlite/Erasure.ts new Worker": "one, for the erasure above",
  "database/sqlite/FileThread.ts new Worker": "one for each job of an operator",
  "database/sqlite/Reading.ts Pool.makeWithTTL": "bounded by the semaphore in front of it",
  "directory/federations/IssuerKeys.ts unsafeMakeSemaphore": "one fetch of an issuer for all that wait",
  "edges/trail/Verification.ts unsafeMakeSemaphore": "one verification of a log at a time",
  "http/MemoryBudget.ts makeShare": "the bound of the budget",
  "http/ParseJson.ts new Worker": "one, behind the semaphore above",
  "operations/backups/Backups.ts makeSemaphore": "backups and restores of operators"
}

describe("what tenants share", () => {
  it("is made from the table of shared bounds, or has a reason not to be", () => {
    const found = files.flatMap(({ path, text }) =>
      [...text.matchAll(constructions)]
        .filter(([, , argument = ""]) => !argument.includes("sharedBounds."))
        .filter(([, name]) => !new RegExp(`export const ${String(name)} =`).test(text))
        .map(([, name]) => `${path} ${String(name)}`)
    )
    assert.deepStrictEqual([...new Set(found)].sort(), Object.keys(others).sort())
  })

  it("has no row in the table from which nothing is made", () => {
    const used = new Set(
      files.flatMap(({ text }) => [...text.matchAll(/\bsharedBounds\.(\w+)/g)].map(([, name]) => String(name)))
    )
    assert.deepStrictEqual([...used].sort(), Object.keys(sharedBounds).sort())
  })

  it("is the table of the documentation", () => {
    const amount = (value: number | string, unit: string): string => {
      const size = unit === "MiB" ? 1024 * 1024 : unit === "KiB" ? 1024 : 1
      return typeof value === "number" ? `${(value / size).toLocaleString("en")} ${unit}` : value
    }
    const rows = Object.values(sharedBounds).map(({ beyond, each, holder, total, unit, what, ...rest }) => [
      what,
      amount(total, unit),
      "isDivided" in rest ? "divided" : "each",
      `${amount(each, unit)}, by ${holder}`,
      beyond
    ])
    const [, table = ""] = readFileSync(page, "utf8").split("\n## What tenants share\n")
    const shown = (table.split("\n## ")[0] ?? "")
      .split("\n")
      .filter((line) => line.startsWith("|"))
      .slice(2)
      .map((line) =>
        line
          .slice(1, -1)
          .split("|")
          .map((cell) => cell.trim())
      )
    assert.deepStrictEqual(shown, rows, `the rows are:\n${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}`)
  })
})

describe("a bound of which a tenant may have as much as it leaves free", () => {
  it("gives no tenant more than half, and lets the next one in beside two that have all they may", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 4, max: 500 }),
        fc.array(fc.record({ tenant: fc.nat({ max: 1 }), amount: fc.integer({ min: 1, max: 20 }) })),
        (total, asked) => {
          const held = [0, 0]
          for (const { amount, tenant } of asked) {
            const all = (held[0] ?? 0) + (held[1] ?? 0)
            const own = held[tenant] ?? 0
            if (own > 0 && mayTake({ total, each: "as much as it leaves free" }, own, all, amount)) {
              held[tenant] = own + amount
            } else if (own === 0) held[tenant] = 1
          }
          const all = (held[0] ?? 0) + (held[1] ?? 0)
          for (const own of held) assert.isAtMost(own, Math.max(1, total / 2))
          assert.isTrue(mayTake({ total, each: "as much as it leaves free" }, 0, all, 1))
        }
      ),
      { numRuns: runs(500) }
    )
  })
})
