import type { SecretPath } from "@coffer/domain/api/Paths"
import type { MatrixEnvironment } from "@coffer/domain/Matrix"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Problem } from "../../kit/Problem.js"

interface CopyProps {
  readonly path: SecretPath
  readonly targets: ReadonlyArray<MatrixEnvironment>
  readonly done: () => void
}

/** Copies a secret to another environment. The value does not pass through the browser. */
export const CopyTo = ({ done, path, targets }: CopyProps) => {
  const act = useAct()
  const copied = useSignal<string | null>(null)
  if (targets.length === 0) return null
  return (
    <section>
      <h2>Copy to</h2>
      <Problem failure={act.failure.value} />
      <div class="row">
        {targets.map(({ etag, name }) => (
          <button
            key={name}
            type="button"
            disabled={act.isBusy.value}
            onClick={() => {
              act.run(
                call("environments", (api) =>
                  api.copy({
                    path: { org_name: path.org_name, project_name: path.project_name, env_name: name },
                    headers: {},
                    payload: { from: path.env_name, keys: [path.key] }
                  })
                ),
                () => {
                  copied.value = name
                  done()
                }
              )
            }}
          >
            {name}
            {etag === null && <span class="quiet"> (not readable for you)</span>}
          </button>
        ))}
        {copied.value !== null && (
          <span class="quiet" role="status">
            Copied to {copied.value}.
          </span>
        )}
      </div>
    </section>
  )
}
