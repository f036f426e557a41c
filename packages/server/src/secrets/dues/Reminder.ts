interface Reminder {
  readonly secrets: ReadonlyArray<{
    /** Its place and key. */
    readonly name: string
    readonly due_at: string
    readonly isOverdue: boolean
  }>
  /** Whether more secrets are due than these. */
  readonly hasMore: boolean
}

const countOf = ({ hasMore, secrets }: Reminder): string =>
  `${hasMore ? "More than " : ""}${secrets.length} ${secrets.length === 1 ? "secret" : "secrets"}`

export const reminderSubject = (reminder: Reminder): string =>
  `${countOf(reminder)} of yours on Coffer ${reminder.secrets.length === 1 ? "is" : "are"} due`

export const reminderText = (reminder: Reminder): string => `You are named as the owner of:

${reminder.secrets
  .map(({ due_at, isOverdue, name }) => `  ${due_at.slice(0, 10)}  ${name}${isOverdue ? "  (overdue)" : ""}`)
  .join("\n")}

To see all of them, run: coffer secret due
A secret that is to be replaced at an age is done when it has a new value.
To move or remove a date, run:

  coffer secret edit KEY --until DATE --rotate-every 90d

Nothing happens to an overdue secret. You get this mail once a week while
there is one, or one is due within 14 days.
`
