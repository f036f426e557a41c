/**
 * The callers. The accounts are an organization's own, the same by a federation, one scoped to this project, one to another,
 * and one with reveal: false.
 */
export const actors = [
  "anonymous",
  "outsider",
  "member",
  "developer",
  "admin",
  "owner",
  "superadmin",
  "account",
  "federated",
  "scoped-here",
  "scoped-elsewhere",
  "blind"
] as const
export type Actor = (typeof actors)[number]

export const columns = ["none", "use", "read", "write", "admin", "elsewhere"] as const

/**
 * The one rule about the caller: for the place that is called, of that level; or an admin rule for another place; or an admin rule
 * that has ended, which is none.
 */
export const rules = [...columns, "ended"] as const
export type Rule = (typeof rules)[number]

export type Outcome = "ok" | 401 | 403 | 404

export interface Grid {
  readonly outcome: (actor: Actor, rule: Rule) => Outcome
  /** The pattern that the message of each 403 matches. */
  readonly says: RegExp
}

const outcomeOf = (text: string): Outcome => {
  if (text === "ok") return "ok"
  const status = Number(text)
  if (status === 401 || status === 403 || status === 404) return status
  throw new Error(`${text} is no outcome`)
}

const isActor = (text: string): text is Actor => actors.some((actor) => actor === text)

/**
 * Reads a table of outcomes: on each line one or more actors, then their outcome, or five of them for the rules none, read,
 * write, admin, elsewhere, or six with use after none. Where there are five, use is worth nothing. Every actor is there exactly once, but for the account by a federation, which may do the same as
 * by its key.
 */
export const grid = (says: RegExp, text: string): Grid => {
  const rows = new Map<Actor, ReadonlyArray<Outcome>>()
  for (const line of text.trim().split("\n")) {
    const cells = line.trim().split(/\s+/)
    const outcomes = cells.filter((cell) => !isActor(cell)).map(outcomeOf)
    if (![1, 5, columns.length].includes(outcomes.length)) throw new Error(`odd line: ${line}`)
    for (const actor of cells.filter(isActor)) {
      if (rows.has(actor)) throw new Error(`${actor} is there twice`)
      const five = [outcomes[0]!, ...outcomes]
      rows.set(actor, outcomes.length === 1 ? columns.map(() => outcomes[0]!) : outcomes.length === 5 ? five : outcomes)
    }
  }
  const byKey = rows.get("account")
  if (byKey !== undefined) rows.set("federated", byKey)
  const absent = actors.filter((actor) => !rows.has(actor))
  if (absent.length > 0) throw new Error(`no line for ${absent.join(", ")}`)
  return {
    says,
    outcome: (actor, rule) => rows.get(actor)![rule === "ended" ? 0 : columns.indexOf(rule)]!
  }
}
