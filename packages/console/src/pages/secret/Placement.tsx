import type { Placement } from "@coffer/domain/secrets/Placement"
import { type Signal, useSignal } from "@preact/signals"
import { Choose } from "../../kit/Choose.js"
import { TextField } from "../../kit/TextField.js"

type Kind = Placement["in"]

/** The fields of each place of a value, with examples. */
const kinds: Readonly<Record<Kind, ReadonlyArray<readonly [field: string, label: string, example: string]>>> = {
  header: [
    ["name", "Header", "authorization"],
    ["format", "Its text, {} for the value", "Bearer {}"]
  ],
  query: [["name", "Parameter", "key"]],
  basic: [["user", "User; the value is the password", "api"]],
  "hmac-sha256": [
    ["header", "Header", "x-signature"],
    ["format", "Its text, {} for the HMAC of the body", "sha256={}"]
  ],
  "aws-sigv4": [
    ["service", "Service", "s3"],
    ["region", "Region", "eu-central-1"],
    ["access_key_id", "Id of the access key", "AKIAIOSFODNN7EXAMPLE"]
  ]
}
const words: ReadonlyArray<Kind> = ["header", "query", "basic", "hmac-sha256", "aws-sigv4"]

interface PlacementState {
  readonly kind: Signal<Kind>
  readonly texts: ReadonlyArray<Signal<string>>
}

export const usePlacement = (
  before: Placement = { in: "header", name: "authorization", format: "Bearer {}" }
): PlacementState => {
  const kind = useSignal<Kind>(before.in)
  const fields: Readonly<Record<string, string>> = before
  const textOf = (index: number) => fields[kinds[before.in][index]?.[0] ?? ""] ?? ""
  const texts = [useSignal(textOf(0)), useSignal(textOf(1)), useSignal(textOf(2))]
  return { kind, texts }
}

/** The place as the contract has it. */
export const placementInput = ({ kind, texts }: PlacementState): Readonly<Record<string, string>> => ({
  in: kind.value,
  ...Object.fromEntries(kinds[kind.value].map(([field], index) => [field, texts[index]?.value ?? ""]))
})

/** Where the server puts the value. */
export const PlacementFields = ({ placement: { kind, texts } }: { readonly placement: PlacementState }) => (
  <div class="fields">
    <Choose
      label="The value goes into"
      value={kind.value}
      words={words}
      choose={(word) => {
        kind.value = word
        for (const [index, text] of texts.entries())
          text.value = word === "header" ? (kinds.header[index]?.[2] ?? "") : ""
      }}
    />
    {kinds[kind.value].map(([field, label, example], index) => {
      const text = texts[index]
      return text === undefined ? null : <TextField key={field} label={label} text={text} placeholder={example} />
    })}
  </div>
)
