import { ReferenceRefused } from "@coffer/domain/errors/Errors"
import { type OrgId, ProjectId } from "@coffer/domain/base/Ids"
import { ProjectName } from "@coffer/domain/base/Names"
import { maxReferenceDepth } from "@coffer/domain/secrets/Reference"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { forEachInSlices, mapInSlices, pacing } from "../../base/EventLoop.js"
import { allPages } from "../../database/Pages.js"
import { query } from "../../database/Query.js"
import { checking, graphOf, type Node, nodeId } from "../references/Graph.js"
import { edgeOf, maxEdges, maxNamed, sentenceOf, tooManyEdges } from "../references/ReferenceChecks.js"
import { referencesRepo } from "../stored/ReferencesRepo.js"

const ProjectRow = Schema.Struct({ id: ProjectId, name: ProjectName })

const namedIn =
  (project: ProjectName) =>
  ({ env, key }: Node): string =>
    `${project}/${env}/${key}`

/**
 * Makes the function that checks the references of a hidden organization by the rules of a write, page by page and without a
 * transaction, and returns notes on those that name no secret: the removal of a secret can be forced. Fails with ReferenceRefused for a
 * secret that refers to itself or passes too many others, and with LimitExceeded.
 */
export const makeImportedReferences = Effect.gen(function* () {
  const { all } = yield* query
  const pages = yield* allPages
  const references = yield* referencesRepo

  const page = all(ProjectRow)`
    SELECT id, name FROM projects WHERE org_id = ${"orgId"} AND id > ${"after"} ORDER BY id LIMIT ${"limit"}`

  /** Returns the references of a project that name no secret. */
  const checkProject = Effect.fnUntraced(function* ({ id, name }: typeof ProjectRow.Type) {
    const rows = yield* references.followed(id, maxEdges + 1)
    if (rows.length > maxEdges) return yield* tooManyEdges(`project ${name}`)
    const named = namedIn(name)
    const pace = pacing()
    // Each round keeps the references that one more can follow. What is left starts a way that is too long, or without an end.
    let left = yield* mapInSlices(rows, (row) => {
      const { from, to } = edgeOf(row)
      return { row, from: nodeId(from), to: nodeId(to) }
    })
    for (let length = 1; length <= maxReferenceDepth && left.length > 0; length++) {
      const starts = new Set(left.map(({ from }) => from))
      left = left.filter(({ to }) => starts.has(to))
      yield* pace
    }
    const refused = left.map(({ row }) => edgeOf(row))
    const [wrong] = refused
    if (wrong !== undefined) {
      const why = checking(graphOf(refused, []))(wrong.from) ?? { wrong: "depth" as const, at: wrong.from }
      return yield* new ReferenceRefused({
        message: `${sentenceOf(named(wrong.from), why, named)}: change it where the archive was made, and export again`
      })
    }
    return rows.filter(({ found }) => found === 0).map(edgeOf)
  })

  return Effect.fnUntraced(function* (orgId: OrgId) {
    const projects = yield* pages(
      "",
      (after, limit) => page({ orgId, after, limit }),
      ({ id }): string => id
    )
    const notes: Array<string> = []
    let others = 0
    yield* forEachInSlices(projects, (project) =>
      Effect.map(checkProject(project), (missing) => {
        const named = namedIn(project.name)
        const some = missing.slice(0, maxNamed - notes.length)
        for (const { from, to } of some) {
          notes.push(
            `${named(to)}, to which ${named(from)} refers: it was not in the archive, and ${named(from)} cannot be read until it is set`
          )
        }
        others += missing.length - some.length
      })
    )
    return others === 0
      ? notes
      : [...notes, others === 1 ? "the target of 1 more reference" : `the targets of ${others} more references`]
  })
})
