/**
 * Characters that act without being seen: control and format characters (with the bidirectional and the tag characters),
 * line and paragraph separators, surrogates, private use, and the default ignorable code points.
 */
const invisible = "[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}]"

const each = new RegExp(invisible, "gu")
const runs = new RegExp(`${invisible}+`, "gu")

const escaped = (text: string) =>
  Array.from({ length: text.length }, (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`).join(
    ""
  )

/** Whether a text has characters that turn the direction of what stands around them: it then reads as another text. */
export const isTurned = (text: string): boolean => /\p{Bidi_Control}/u.test(text)

/** Replaces each run of invisible characters. */
export const replaceInvisible = (text: string, replacement: string): string => text.replace(runs, replacement)

/** Writes invisible characters as `\uXXXX`, the form that JSON reads back. Characters in `kept` stay. */
export const escapeInvisible = (text: string, kept = ""): string =>
  text.replace(each, (character) => (kept.includes(character) ? character : escaped(character)))
