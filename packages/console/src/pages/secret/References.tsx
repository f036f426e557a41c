import type { SecretPath } from "@coffer/domain/api/Paths"
import type { MatrixCell } from "@coffer/domain/secrets/Matrix"
import type { SecretReferences } from "@coffer/domain/secrets/Secret"
import { call } from "../../client/Calls.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { Link } from "../../routing/Link.js"
import { secretAddress } from "../../routing/Places.js"

const Places = ({ of, path }: { readonly of: SecretReferences["refers_to"]; readonly path: SecretPath }) => (
  <ul class="secret-references">
    {of.map(({ env, key }) => (
      <li key={`${env}:${key}`}>
        <Link to={secretAddress(path.org_name, path.project_name, env, key)} class="key">
          {key}
        </Link>{" "}
        <span class="badge">{env}</span>
      </li>
    ))}
  </ul>
)

/** Where the value of a secret comes from, and which secrets depend on it. */
export const References = ({ cell, path }: { readonly path: SecretPath; readonly cell: MatrixCell }) => {
  const found = useLoad(`${path.env_name}/${path.key}/${cell.version} references`, () =>
    call("secrets", (api) => api.references({ path }))
  )
  return (
    <Reading of={found}>
      {({ hidden, kind, referred_by, refers_to }) =>
        kind === "text" && referred_by.length === 0 && hidden === 0 ? null : (
          <section>
            <h2>References</h2>
            {refers_to.length > 0 && (
              <>
                <p>Its value is made of</p>
                <Places of={refers_to} path={path} />
              </>
            )}
            {referred_by.length > 0 && (
              <>
                <p>It is part of the values of</p>
                <Places of={referred_by} path={path} />
              </>
            )}
            {hidden > 0 && (
              <p class="hint">
                {hidden} more {hidden === 1 ? "secret refers" : "secrets refer"} to it from environments that you may
                not read.
              </p>
            )}
          </section>
        )
      }
    </Reading>
  )
}
