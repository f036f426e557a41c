/** The name of a session for people: its browser or program. Without schemas, for pages and lists. */
import type { Session } from "./Session.js"

type Known = ReadonlyArray<readonly [pattern: RegExp, name: string]>

/** In this order: Edge, Opera and others name Chrome too, and Chrome names Safari. */
const browsers: Known = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bVivaldi\//, "Vivaldi"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:HeadlessChrome|Chrome|CriOS|Chromium)\//, "Chrome"],
  [/\bVersion\/.*\bSafari\//, "Safari"]
]

const systems: Known = [
  [/\biPhone\b/, "iOS"],
  [/\biPad\b/, "iPadOS"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac(?:intosh| OS X)\b/, "macOS"],
  [/\bLinux\b/, "Linux"]
]

const found = (known: Known, text: string) => known.find(([pattern]) => pattern.test(text))?.[1]

/** The browser and the system of a user agent, such as `Firefox on Linux`. */
export const browserName = (userAgent: string): string => {
  const system = found(systems, userAgent)
  return `${found(browsers, userAgent) ?? "a browser"}${system === undefined ? "" : ` on ${system}`}`
}

const programs: Readonly<Record<string, string>> = { cli: "coffer", mcp: "coffer-mcp" }

/** A session by what it is of, such as `Firefox on Linux` or `coffer on adas-laptop`. */
export const sessionName = ({
  machine,
  program,
  user_agent
}: Pick<Session, "machine" | "program" | "user_agent">): string =>
  program === "browser"
    ? browserName(user_agent ?? "")
    : `${program === undefined ? "a program" : (programs[program] ?? program)}${machine === undefined ? "" : ` on ${machine}`}`
