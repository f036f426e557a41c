import type { Rotation } from "@coffer/domain/secrets/Rotation"
import { writesProblem } from "@coffer/domain/secrets/RotationTemplate"
import * as Either from "effect/Either"
import { wordsOf } from "../../kit/Decode.js"
import { TextArea } from "../../kit/TextArea.js"
import { TextField } from "../../kit/TextField.js"
import type { Texts } from "../../kit/Texts.js"
import { textOfWrites, writesOf } from "./RotationWrites.js"

export const rotationLabels = {
  ...{ name: "Name", users: "Users", writes: "Writes", every: "Every", window: "Window" },
  ...{ length: "Length", alphabet: "Characters" }
}

/** The texts with which the form of a rotation begins. */
export const startOf = ({ every, window, writes }: Pick<Rotation, "every" | "window" | "writes">) => ({
  ...{ writes: textOfWrites(writes), every },
  ...(window !== null && { days: window.days.join(" "), from: window.from, to: window.to, zone: window.zone })
})

const windowNames = ["days", "from", "to", "zone"]

/** The window that is typed; null: none of it is. */
export const windowIn = ({ typed }: Texts) =>
  windowNames.every((name) => typed(name) === "")
    ? null
    : { days: wordsOf(typed("days")), from: typed("from"), to: typed("to"), zone: typed("zone") }

/** The secrets of the form, with their texts. */
export const writesIn = ({ textOf }: Texts) => writesOf(textOf("writes").value)

/** Checks the texts of a rotation against its users and the characters of its passwords. */
export const fitting =
  (alphabet: string) =>
  <A extends { readonly writes?: Readonly<Record<string, string>> }>(
    made: A,
    users: ReadonlyArray<string>
  ): Either.Either<A, string> => {
    const problem = writesProblem(made.writes ?? {}, { users, alphabet })
    return problem === null ? Either.right(made) : Either.left(`Writes: ${problem}`)
  }

/** The fields that can be changed later. */
export const RotationFields = ({ texts: { textOf } }: { readonly texts: Texts }) => (
  <>
    <TextArea
      label="Writes"
      rows={3}
      text={textOf("writes")}
      placeholder="DATABASE_URL=postgres://{user}:{password}@db.internal/shop"
      hint="A key on each line, and the text that is written, with {user} and {password}."
    />
    <TextField label="Every" text={textOf("every")} placeholder="30d" hint="1h to 365d" />
    <details>
      <summary>When a turn may begin</summary>
      <TextField label="Days" text={textOf("days")} placeholder="sat sun" />
      <TextField label="From" text={textOf("from")} placeholder="22:00" />
      <TextField label="To" text={textOf("to")} placeholder="04:00" hint="before From: on the next day" />
      <TextField
        label="Time zone"
        text={textOf("zone")}
        placeholder="Europe/Berlin"
        hint="All four, or none: at any time."
      />
    </details>
  </>
)
