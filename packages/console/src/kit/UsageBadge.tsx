import { unusedDays } from "@coffer/domain/base/Usage"

/** The mark of a right or an account that was not used for a long time. */
export const UsageBadge = ({ usage }: { readonly usage: string | undefined }) =>
  usage === undefined ? null : (
    <>
      {" "}
      <span class="badge">{usage === "unused" ? `unused for ${unusedDays} days` : "use unknown"}</span>
    </>
  )
