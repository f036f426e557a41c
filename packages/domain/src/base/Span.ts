/**
 * The one grammar of lengths of time, in the API, in settings and on command lines: a number and a unit, such as `500ms`, `60s`,
 * `30m`, `1.5h`, `7d` or `2w`. Each field says how long a span may be. Imports nothing: `coffer run` starts with it.
 */
const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000
}

/** The grammar as a JSON schema has it. */
export const spanPattern = "^([0-9]{1,9}(?:\\.[0-9]{1,3})?)(ms|s|m|h|d|w)$"

const form = new RegExp(spanPattern)

/** The whole milliseconds of a span; NaN if the text is none. */
export const spanMillis = (text: string): number => {
  const [, digits, unit = ""] = form.exec(text) ?? []
  return digits === undefined ? Number.NaN : Math.round(Number(digits) * (units[unit] ?? Number.NaN))
}

/** The whole seconds of a span, rounded up; NaN if the text is none. */
export const spanSeconds = (text: string): number => Math.ceil(spanMillis(text) / 1_000)

export const isSpan = (text: string): boolean => !Number.isNaN(spanMillis(text))

/**
 * A span as servers of 0.3.0 read it, who may read what is stored during an upgrade: a whole number of minutes, hours or days. It
 * is rounded up to minutes. A span in that form stays as it is.
 */
export const spanInMinutes = (text: string): string => {
  if (/^[1-9][0-9]{0,5}[mhd]$/.test(text)) return text
  const minutes = Math.ceil(spanMillis(text) / 60_000)
  if (minutes % 1_440 === 0) return `${minutes / 1_440}d`
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`
}

/** The milliseconds of a span where a number alone is seconds, as options that take seconds have it; NaN if the text is none. */
export const spanOrSecondsMillis = (text: string): number =>
  spanMillis(/^[0-9]{1,9}(?:\.[0-9]{1,3})?$/.test(text) ? `${text}s` : text)
