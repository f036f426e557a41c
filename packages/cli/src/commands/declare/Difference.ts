import type { Declaration, DeclaredKey, RequiredIn } from "@coffer/domain/secrets/DeclaredKey"
import { defined } from "@coffer/domain/base/Defined"
import type { Read, ReadFile } from "./ExampleFile.js"

/** The change that a file would make to a key. */
export interface Change {
  readonly key: DeclaredKey["key"]
  readonly change: "created" | "updated" | "unchanged"
  readonly wanted: Declaration
}

export interface Choices {
  /** Where keys are required of which the file does not say so. */
  readonly requiredIn: RequiredIn | undefined
}

/** Where a new key is required: by its decorator, the head of the file, the command line; or everywhere, as its value stands there. */
const defaultOf = (read: Read, { defaultRequired }: ReadFile, { requiredIn }: Choices): RequiredIn => {
  if (read.isCommentedOut) return []
  if (defaultRequired === "none") return []
  if (defaultRequired === "with_value" && !read.hasValue) return []
  return requiredIn ?? "*"
}

const canonical = ({ description, example, owner, pattern, required_in }: Declaration): string =>
  JSON.stringify([required_in === "*" ? "*" : [...required_in].sort(), pattern, description, example, owner])

const declarationOf = ({ description, example, owner, pattern, required_in }: DeclaredKey): Declaration => ({
  required_in,
  ...defined({ description, example, owner, pattern })
})

/** Compares a file with what is declared. What the file does not say of a key stays as it is. */
export const differenceOf = (
  file: ReadFile,
  declared: ReadonlyArray<DeclaredKey>,
  choices: Choices
): ReadonlyArray<Change> => {
  const before = new Map(declared.map((one) => [one.key, declarationOf(one)]))
  return file.keys.map((read): Change => {
    const { description, example, key, owner, pattern, required_in } = read
    const known = before.get(key)
    const wanted: Declaration = {
      ...known,
      required_in: required_in ?? known?.required_in ?? defaultOf(read, file, choices),
      ...defined({ description, owner, pattern, example })
    }
    const change = known === undefined ? "created" : canonical(known) === canonical(wanted) ? "unchanged" : "updated"
    return { key, change, wanted }
  })
}

export const requiredText = (requiredIn: RequiredIn): string =>
  requiredIn === "*" ? "everywhere" : requiredIn.length === 0 ? "nowhere" : requiredIn.join(", ")
