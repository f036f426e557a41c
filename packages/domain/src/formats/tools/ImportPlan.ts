import * as Array from "effect/Array"
import * as Redacted from "effect/Redacted"
import type { EnvName, ProjectName } from "../../base/Names.js"
import { byteLength } from "../../secrets/SecretValueForm.js"
import { maxKeys } from "../../secrets/SecretValues.js"
import type { SecretMap } from "../Reading.js"
import { targetsOf, type TargetedPlace, type ImportTarget, sourceOf } from "./ImportTarget.js"
import { finderOf, type Judged, judge, type Kept, nameOfKey, type PlannedKey, renaming } from "./KeyPlan.js"
import type { ToolDocument } from "./ReadDocument.js"
import { tools } from "./Tools.js"

/** The writes to an environment, in one transaction. */
export interface PlannedEnv {
  /** The places in the tool, for people. */
  readonly source: string
  readonly project: ProjectName
  readonly env: EnvName
  /** In the order of the document. */
  readonly keys: ReadonlyArray<PlannedKey>
  readonly set: SecretMap
  /** Texts of references. */
  readonly references: SecretMap
  /** The other environments that references lead to. */
  readonly needs: ReadonlyArray<EnvName>
}

export interface ImportPlan {
  /** In the order in which they can be written: each after those that its references lead to. */
  readonly envs: ReadonlyArray<PlannedEnv>
  /** Why nothing may be written, a sentence each. Beside it, each key that is `unsupported`. */
  readonly problems: ReadonlyArray<string>
}

/** The largest body of a write, with room for what is not a value. */
const maxBytes = 16 * 1024 * 1024 - 4_096

/** A pair in the body of a request. */
const bytesOf = ({ key, value }: Kept) => key.length + byteLength(JSON.stringify(Redacted.value(value))) + 4

/** Refuses keys that stand twice: nobody knows which of them counts. */
const withoutTwins = (judged: ReadonlyArray<Judged>): ReadonlyArray<Judged> => {
  const first = new Map<string, PlannedKey>()
  return judged.map((each): Judged => {
    const { kept, planned } = each
    const { key, path } = planned
    const other = first.get(key)
    if (kept === undefined) return each
    if (other === undefined) {
      first.set(key, planned)
      return each
    }
    const where = other.path === path ? `on line ${other.line}` : `as ${other.path}, on line ${other.line}`
    return { planned: { ...planned, state: "unsupported", why: `is here twice, first ${where}; ${renaming(path)}` } }
  })
}

const mapOf = (kept: ReadonlyArray<Kept>): SecretMap => new Map(kept.map(({ key, value }) => [key, value]))

/** Puts environments after those that their references lead to. */
const inOrder = (envs: ReadonlyArray<PlannedEnv>): ReadonlyArray<PlannedEnv> => {
  const visited = new Set<PlannedEnv>()
  const ordered: Array<PlannedEnv> = []
  const visit = (each: PlannedEnv) => {
    if (visited.has(each)) return
    visited.add(each)
    for (const other of envs) if (other.project === each.project && each.needs.includes(other.env)) visit(other)
    ordered.push(each)
  }
  envs.forEach(visit)
  return ordered
}

/** Plans what is written where. The server's dry run then says what is new, different or the same. */
export const planImport = (document: ToolDocument, target: ImportTarget): ImportPlan => {
  const problems: Array<string> = []
  const tool = tools[document.tool]
  const aimed = targetsOf(document, target, (sentence) => problems.push(sentence))
  const finder = finderOf(aimed, tool, target)
  const judgeAll = (from: TargetedPlace): ReadonlyArray<Judged> =>
    from.place.keys.map((found) => {
      const name = nameOfKey(found, target)
      return judge(found, name, tool, finder(from, name))
    })
  const groups = Object.values(Array.groupBy(aimed, ({ env, project }) => `${project}/${env}`))
  const envs = groups.map((group): PlannedEnv => {
    const { env, project } = Array.headNonEmpty(group)
    const judged = withoutTwins(group.flatMap(judgeAll))
    const kept = judged.flatMap((each) => (each.kept === undefined ? [] : [each.kept]))
    if (kept.length > maxKeys) {
      problems.push(`${project}/${env}: ${kept.length} keys, and at most ${maxKeys} can be written at once`)
    } else if (kept.reduce((sum, each) => sum + bytesOf(each), 0) > maxBytes) {
      problems.push(`${project}/${env}: the values are larger than 16 MiB together, and no more can be written at once`)
    }
    const named = kept.flatMap(({ targets }) => targets.flatMap((each) => (each.env === null ? [] : [each.env])))
    return {
      source: Array.dedupe(group.map(({ place }) => sourceOf(document.tool, place))).join(", "),
      project,
      env,
      keys: judged.map(({ planned }) => planned),
      set: mapOf(kept.filter(({ isReference }) => !isReference)),
      references: mapOf(kept.filter(({ isReference }) => isReference)),
      needs: Array.dedupe(named)
    }
  })
  return { envs: inOrder(envs), problems }
}
