/** Gauges of which the processes of a server have no parts: the largest value counts, or the smallest. */
const largest =
  /^(?:coffer_(?:webhook_oldest|backup_|secrets_due|database_(?:size|wal)|tls_)|process_max_fds|nodejs_(?:eventloop|version))/
const smallest = /^(?:coffer_backup_age|process_start_time)/
/** Counters that each process reads from the database. */
const common = /^coffer_audit_breaks_total/

interface Family {
  readonly head: ReadonlyArray<string>
  readonly type: string
  readonly samples: Map<string, number>
}

const sum = (a: number, b: number): number => a + b

const combining = (name: string, type: string): ((a: number, b: number) => number) => {
  if (common.test(name)) return Math.max
  if (type !== "gauge") return sum
  if (smallest.test(name)) return Math.min
  return largest.test(name) ? Math.max : sum
}

const shown = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"

const valueOf = (text: string): number => (text === "+Inf" ? Infinity : text === "-Inf" ? -Infinity : Number(text))

/**
 * Adds up pages in Prometheus' text format, of the processes of one server. Counters and histograms are sums, also with `ended`, the
 * pages of processes that have ended: a counter that fell would count as a restart. Gauges are sums where the processes have parts.
 */
export const addUp = (pages: ReadonlyArray<string>, ended: ReadonlyArray<string> = []): string => {
  const families = new Map<string, Family>()

  const add = (page: string, isEnded: boolean): void => {
    let help = ""
    let family: (Family & { readonly combine: (a: number, b: number) => number }) | null = null
    for (const line of page.split("\n")) {
      const [, kind, name = "", type = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
      if (kind === "HELP") help = line
      else if (kind === "TYPE") {
        const found = families.get(name) ?? { head: [help, line], type, samples: new Map<string, number>() }
        families.set(name, found)
        family = isEnded && type === "gauge" ? null : { ...found, combine: combining(name, type) }
      } else if (line !== "" && family !== null) {
        const end = line.lastIndexOf(" ")
        const [series, value] = [line.slice(0, end), valueOf(line.slice(end + 1))]
        const before = family.samples.get(series)
        family.samples.set(series, before === undefined ? value : family.combine(before, value))
      }
    }
  }

  for (const page of pages) add(page, false)
  for (const page of ended) add(page, true)
  return [...families.values()]
    .flatMap(({ head, samples }) => [...head, ...[...samples].map(([series, value]) => `${series} ${shown(value)}`)])
    .map((line) => `${line}\n`)
    .join("")
}
