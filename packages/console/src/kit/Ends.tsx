import { Expiry } from "@coffer/domain/secrets/Due"
import { type Signal, useSignal } from "@preact/signals"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Choose } from "./Choose.js"
import { TextField } from "./TextField.js"
import { wallMillis } from "../state/ServerTime.js"

const hour = 3_600_000

const choices = ["never", "in 1 hour", "in 8 hours", "in 1 day", "in 7 days", "at a date"] as const
type Choice = (typeof choices)[number]

const spans: Partial<Record<Choice, number>> = {
  "in 1 hour": hour,
  "in 8 hours": 8 * hour,
  "in 1 day": 24 * hour,
  "in 7 days": 7 * 24 * hour
}

const decode = Schema.decodeUnknownOption(Expiry)

/** The words for what has to end. */
const endings = choices.filter((word) => word !== "never")

export interface End {
  readonly choice: Signal<Choice>
  readonly date: Signal<string>
}

/** When something new ends. */
export const useEnd = (first: Choice = "never"): End => ({ choice: useSignal<Choice>(first), date: useSignal("") })

/** The end as the contract takes it, without one for what lasts; null if it is not complete. */
export const endOf = ({ choice, date }: End): { readonly expires_at?: string } | null => {
  if (choice.value === "never") return {}
  const span = spans[choice.value]
  if (span !== undefined) return { expires_at: new Date(wallMillis() + span).toISOString() }
  return Option.getOrNull(Option.map(decode(date.value.trim()), (expires_at) => ({ expires_at })))
}

interface EndsProps {
  readonly end: End
  /** Whether it may last. */
  readonly mayLast?: boolean
}

/** Chooses when something ends: never, after a while, or at a date. */
export const Ends = ({ end, mayLast = true }: EndsProps) => (
  <>
    <Choose
      label="Ends"
      value={end.choice.value}
      words={mayLast ? choices : endings}
      choose={(word) => (end.choice.value = word)}
    />
    {end.choice.value === "at a date" && (
      <TextField
        label="Date of the end"
        text={end.date}
        placeholder="2027-01-31"
        maxLength={24}
        isBad={end.date.value !== "" && endOf(end) === null}
        hint="A date, or a date and time in UTC such as 2027-01-31T08:00:00Z"
      />
    )}
  </>
)
