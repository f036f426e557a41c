import { assert } from "vitest"

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const sampleForm =
  /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (NaN|[+-]Inf|-?[0-9.]+(?:e[+-]?\d+)?)$/
const types = ["counter", "gauge", "histogram", "summary"]

/**
 * Reads Prometheus' text format 0.0.4 strictly: each family is described, typed and named once, its samples follow it,
 * and no sample is there twice.
 */
export const parseExposition = (text: string): ReadonlyArray<Sample> => {
  assert.isTrue(text.endsWith("\n"), "the last line ends")
  const samples: Array<Sample> = []
  const families = new Set<string>()
  const seen = new Set<string>()
  let family = ""
  let type = ""
  for (const line of text.split("\n")) {
    if (line === "") continue
    const help = /^# HELP (\S+) (.+)$/.exec(line)
    const typed = /^# TYPE (\S+) (\S+)$/.exec(line)
    if (help !== null) {
      family = help[1] ?? ""
      type = ""
      assert.isFalse(families.has(family), `${family} is described once`)
      families.add(family)
    } else if (typed !== null) {
      assert.strictEqual(typed[1], family, line)
      type = typed[2] ?? ""
      assert.include(types, type)
    } else {
      const [, name = "", labelText = "", value = ""] = sampleForm.exec(line) ?? assert.fail(`no sample: ${line}`)
      const suffixes = type === "histogram" ? ["_bucket", "_sum", "_count"] : [""]
      assert.include(
        suffixes.map((suffix) => family + suffix),
        name
      )
      if (type === "counter") assert.match(name, /_total$/)
      const labels = Object.fromEntries(
        [...labelText.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"/g)].map(([, key = "", text = ""]) => [
          key,
          text
        ])
      )
      const key = `${name} ${JSON.stringify(labels)}`
      assert.isFalse(seen.has(key), `${key} is there once`)
      seen.add(key)
      samples.push({ name, labels, value: Number(value.replace("Inf", "Infinity")) })
    }
  }
  return samples
}

/** The value of the sample with this name and at least these labels; undefined when there is none. */
export const valueOf = (
  samples: ReadonlyArray<Sample>,
  name: string,
  labels: Readonly<Record<string, string>> = {}
): number | undefined =>
  samples.find(
    (sample) => sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
  )?.value
