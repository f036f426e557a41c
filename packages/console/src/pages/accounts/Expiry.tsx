import { exactly } from "../../kit/Exactly.js"
import { wallMillis } from "../../state/ServerTime.js"

const day = 86_400_000

/** When a key expires, and how urgent that is. */
export const Expiry = ({ time }: { readonly time: string | null }) => {
  if (time === null) return <span class="badge warn">never</span>
  const left = Date.parse(time) - wallMillis()
  const days = Math.ceil(left / day)
  return (
    <time dateTime={time} data-exact={exactly(time)}>
      {left <= 0 ? (
        <span class="badge warn">expired</span>
      ) : (
        <span class={days <= 14 ? "badge warn" : "quiet"}>{days === 1 ? "in 1 day" : `in ${days} days`}</span>
      )}
    </time>
  )
}
