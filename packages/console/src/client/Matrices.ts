import { matrixOf } from "@coffer/domain/secrets/MatrixOf"
import { defined } from "@coffer/domain/base/Defined"
import type { Matrix } from "@coffer/domain/secrets/Matrix"
import type { OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { call } from "./Calls.js"

interface Known {
  readonly place: string
  readonly etag: string
  readonly matrix: Matrix
}

/** The last matrix that was read. It holds no value. */
let known: Known | null = null

/** Reads the matrix of a project. What has not changed since it was read last is not sent again. */
export const readMatrix = (org: OrgName, project: ProjectName): Effect.Effect<Matrix, MatrixFailure> =>
  Effect.suspend(() => {
    const place = `${org}/${project}`
    const before = known?.place === place ? known : null
    return Effect.map(requestMatrix(org, project, before?.etag), ([sent, { headers }]) => {
      const matrix = matrixOf(sent)
      const found = matrix ?? before?.matrix ?? { environments: [], others: [], data: [] }
      const etag = headers["etag"]
      if (matrix !== undefined) known = etag === undefined ? null : { place, etag, matrix }
      return found
    })
  })

const requestMatrix = (org: OrgName, project: ProjectName, etag: string | undefined) =>
  call("environments", (api) =>
    api.matrix({
      path: { org_name: org, project_name: project },
      urlParams: { format: "compact" },
      headers: defined({ "if-none-match": etag }),
      withResponse: true
    })
  )

type MatrixFailure = Effect.Effect.Error<ReturnType<typeof requestMatrix>>
