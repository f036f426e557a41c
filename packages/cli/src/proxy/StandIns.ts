import { spellingsOf } from "@coffer/domain/secrets/Spellings"
import { randomBytes } from "node:crypto"

/** Values that programs take for keys and that are worth nothing anywhere, by the keys of the secrets they stand for. */
export type StandIns = ReadonlyMap<string, string>

export const standInStart = "coffer-stand-in-"

export const makeStandIns = (keys: Iterable<string>): StandIns =>
  new Map([...keys].map((key) => [key, `${standInStart}${randomBytes(12).toString("hex")}`]))

interface Looked {
  readonly key: string
  readonly texts: ReadonlyArray<string>
}

/** Finds the stand-ins that a text of bytes holds, in every spelling that a response is scrubbed of. */
export type FindStandIns = (text: string) => ReadonlyArray<string>

export const finderOf = (standIns: StandIns): FindStandIns => {
  const looked: ReadonlyArray<Looked> = [...standIns].map(([key, value]) => ({
    key,
    texts: spellingsOf(value).map(({ text }) => text)
  }))
  return (text) => looked.filter(({ texts }) => texts.some((one) => text.includes(one))).map(({ key }) => key)
}
