import type { SecretPath } from "@coffer/domain/api/Paths"
import type { MatrixEnvironment } from "@coffer/domain/secrets/Matrix"
import { Link } from "../../routing/Link.js"
import { promoteAddress } from "../../routing/Places.js"

interface CopyProps {
  readonly path: SecretPath
  readonly targets: ReadonlyArray<MatrixEnvironment>
}

/** Ways to copy a secret to another environment, by the page that shows first what it would change. */
export const CopyTo = ({ path, targets }: CopyProps) =>
  targets.length === 0 ? null : (
    <section>
      <h2>Copy to</h2>
      <p class="row">
        {targets.map(({ name }) => (
          <Link key={name} to={promoteAddress(path, name)} class="button">
            {name}
          </Link>
        ))}
      </p>
    </section>
  )
