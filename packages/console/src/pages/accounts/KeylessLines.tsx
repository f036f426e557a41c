import { version } from "../../../package.json"
import { keylessPieces } from "@coffer/domain/guides/Keyless"
import type { OrgName } from "@coffer/domain/base/Names"
import type { ServiceAccount } from "@coffer/domain/directory/ServiceAccount"
import type { Trusted } from "./FederationForm.js"
import { kinds } from "./Kinds.js"
import { Pieces } from "./Pieces.js"

interface LinesProps {
  readonly org: OrgName
  readonly account: Pick<ServiceAccount, "name">
  readonly made: Trusted
  /** `PROJECT/ENV`, as far as it is known. */
  readonly place?: string
}

/** Says that an account signs in with the tokens of an issuer. */
export const SignsIn = ({ account, federation }: Pick<LinesProps, "account"> & Pick<Trusted, "federation">) => (
  <p role="status">
    {account.name} signs in with tokens of <code>{federation.issuer}</code>. No key is stored anywhere.
  </p>
)

/** The lines for where an account signs in without a stored key. */
export const KeylessLines = ({ account, made, org, place = "PROJECT/ENV" }: LinesProps) => {
  const { federation, kind, typed } = made
  const use = {
    server: location.origin,
    audience: federation.audience,
    account: `${org}/${account.name}`,
    place: `${org}/${place}`,
    environment: typed["environment"]?.trim() || undefined,
    serviceAccount: typed["account"]?.trim()
  }
  return (
    <>
      <SignsIn account={account} federation={federation} />
      <Pieces pieces={keylessPieces(kinds[kind].system, use, version)} />
    </>
  )
}
