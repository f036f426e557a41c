import { permissions } from "@coffer/domain/access/AclRule"
import type { Matrix, MatrixCell, MatrixEnvironment, MatrixRow } from "@coffer/domain/secrets/Matrix"
import { maxMatrixEnvironments } from "@coffer/domain/secrets/Matrix"
import type { EnvId } from "@coffer/domain/base/Ids"
import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Access, type Place, type Within } from "../../access/Access.js"
import { withinKeys } from "../../access/AllowedKeys.js"
import { notVisible } from "../../access/place/NotFound.js"
import { dueOf } from "../stored/DueColumns.js"
import { endOf, positionOf, protectionOf } from "../../directory/environments/Repo.js"
import { mapInSlices } from "../../base/EventLoop.js"
import { etagOfAll, namesETag } from "../../http/ETag.js"
import { beginLargeResponse } from "../../http/LargeResponses.js"
import { kindOf } from "../../keys/Envelope.js"
import { Instance } from "../../keys/Instance.js"
import { method } from "../../base/tracing/Traced.js"
import { etagOf } from "../stored/EnvironmentETag.js"
import { matrixRepo, targetsOf } from "../stored/MatrixRepo.js"
import { makeDigests, type Digests } from "../stored/Digests.js"
import { Versions } from "../stored/Versions.js"
import { Comparisons } from "./Comparisons.js"

interface Column extends Within {
  readonly id: EnvId
  readonly name: EnvName
  readonly position: number | null
  readonly is_protected: number
  readonly expires_at: number | null
  readonly revision: number
  readonly due_revision: number
  readonly secret_count: number
  /** The worst state of its targets; null: none was checked, or it is not for the caller. */
  readonly target_state: number | null
  /** How many secrets are not shown: the caller may not list their keys. */
  readonly leftOut: number
}

/** The permissions of the caller, for all keys or for some. */
const permissionsOf = ({ allowed, allowedForSome }: Pick<Column, "allowed" | "allowedForSome">) =>
  permissions.filter((one) => allowed.includes(one) || allowedForSome.includes(one))

/** The size of a cell in the response, with its part of the key. */
const bytesOfCell = 200

/** A row while its columns are read. */
interface OpenRow {
  readonly cells: Array<MatrixCell | null>
  /** The number of each value, by its digest. */
  readonly numbers: Map<string, number>
}

/** Compares the keys of all environments of a project without returning values. */
export class ProjectMatrix extends Effect.Service<ProjectMatrix>()("@coffer/server/ProjectMatrix", {
  effect: Effect.gen(function* () {
    const { alongside, within } = yield* Access
    const comparisons = yield* Comparisons
    const repo = yield* matrixRepo
    const versions = yield* Versions
    const { epoch } = yield* Instance

    /** The environments of the matrix with what the actor may do in each, and the names of the others. */
    const columnsOf = Effect.fnUntraced(function* (
      place: Place<"env.list">,
      wanted: ReadonlyArray<EnvName> | undefined
    ) {
      const all = yield* repo.columns({ projectId: place.project.id })
      const lasting = [...all].sort((a, b) => Number(a.expires_at !== null) - Number(b.expires_at !== null))
      const names = new Set(wanted ?? lasting.slice(0, maxMatrixEnvironments).map(({ name }) => name))
      const absent = wanted?.find((name) => all.every((env) => env.name !== name))
      if (absent !== undefined) return yield* notVisible(`environment ${absent}`)
      const columns = all
        .filter(({ name }) => names.has(name))
        .map((env): Column => {
          const named = { id: env.id, name: env.name }
          // For those who may list the targets.
          const target_state = alongside(place, named, "target.list") === null ? null : env.target_state
          return { ...env, ...within(place, named), target_state, leftOut: 0 }
        })
      return { columns, others: all.flatMap(({ name }) => (names.has(name) ? [] : [name])) }
    })

    /** Rights and positions are part of it: other rights show other cells. */
    const tagOf = (columns: ReadonlyArray<Column>, others: ReadonlyArray<EnvName>): string =>
      etagOfAll(
        epoch,
        others,
        columns.map(
          ({
            due_revision,
            expires_at,
            id,
            is_protected,
            place,
            position,
            reveals,
            revision,
            target_state,
            ...column
          }) =>
            place === null
              ? [id, position, is_protected, expires_at]
              : [
                  ...[
                    id,
                    position,
                    is_protected,
                    expires_at,
                    revision,
                    due_revision,
                    permissionsOf(column),
                    reveals,
                    target_state
                  ],
                  ...(place.reach === null ? [] : [place.reach.text])
                ]
        )
      )

    const described = (column: Column): MatrixEnvironment => {
      const { id, leftOut, name, place, reveals, revision, target_state } = column
      const known = {
        name,
        ...positionOf(column),
        ...protectionOf(column),
        ...endOf(column),
        allowed: permissionsOf(column),
        reveals,
        ...targetsOf(target_state),
        ...(place !== null && place.reach !== null && { left_out: leftOut })
      }
      return place === null
        ? { ...known, revision: null, etag: null }
        : { ...known, revision, etag: etagOf(epoch, { id, revision }) }
    }

    /**
     * Adds a column to the rows, and returns it with the revision of its secrets. Only a digest of each value is kept,
     * under a key that is forgotten with the request.
     */
    const fill = Effect.fnUntraced(function* (
      rows: Map<SecretKey, OpenRow>,
      column: Column,
      index: number,
      width: number,
      digestOf: Digests
    ) {
      const { id, place } = column
      if (place === null) return column
      const all = yield* repo.column(id)
      const secrets = withinKeys(place, all)
      const altered = yield* mapInSlices(secrets, (secret) => {
        const { created_by, key, updated_at, version } = secret
        const kind = kindOf(secret)
        const row: OpenRow = rows.get(key) ?? {
          cells: Array.from({ length: width }, (): null => null),
          numbers: new Map<string, number>()
        }
        rows.set(key, row)
        const opened = versions.opened(place, secret, secret)
        const same = Either.map(opened, (value) => {
          const digest = digestOf(kind, value)
          const number = row.numbers.get(digest) ?? row.numbers.size + 1
          row.numbers.set(digest, number)
          return number
        })
        row.cells[index] = {
          version,
          updated_at,
          updated_by: created_by ?? "",
          same: Either.getOrNull(same),
          ...(kind === "reference" && { kind }),
          ...dueOf(secret)
        }
        return Either.isLeft(opened) ? [opened.left] : []
      })
      // One altered value must not hide the others.
      yield* Effect.forEach(altered.flat(), (one) => Effect.ignore(versions.failed(one)), { discard: true })
      const [first] = all
      const counted = { ...column, leftOut: all.length - secrets.length }
      return first === undefined ? counted : { ...counted, revision: first.revision, due_revision: first.due_revision }
    })

    /** Returns the matrix with its ETag, or only the ETag if `ifNoneMatch` names it. Reads one environment at a time. */
    const read = method(
      "ProjectMatrix.read",
      function* (
        place: Place<"env.list">,
        wanted: ReadonlyArray<EnvName> | undefined,
        ifNoneMatch: string | undefined
      ) {
        const { columns, others } = yield* columnsOf(place, wanted)
        const known = tagOf(columns, others)
        if (ifNoneMatch !== undefined && namesETag(ifNoneMatch, known)) return { etag: known, found: undefined }
        yield* comparisons.admit(place, {
          resource_type: "project",
          resource_id: place.project.id,
          metadata: { with: columns.flatMap(({ name, place }) => (place === null ? [] : [name])) }
        })
        const cells = columns.reduce((sum, { place, secret_count }) => sum + (place === null ? 0 : secret_count), 0)
        yield* beginLargeResponse(cells * bytesOfCell)
        const rows = new Map<SecretKey, OpenRow>()
        const digestOf = makeDigests()
        const filled = yield* Effect.forEach(columns, (column, index) =>
          fill(rows, column, index, columns.length, digestOf)
        )
        const data = [...rows]
          .map(([key, { cells }]): MatrixRow => ({ key, cells }))
          .sort((a, b) => (a.key < b.key ? -1 : 1))
        const found: Matrix = { environments: filled.map(described), others, data }
        return { etag: tagOf(filled, others), found }
      }
    )

    return { read } as const
  }),
  dependencies: [Comparisons.Default, Versions.Default]
}) {}
